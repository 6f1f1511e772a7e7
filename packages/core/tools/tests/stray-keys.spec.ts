import { describe, expect, it } from 'vitest'
import { bogus, codeOf, Host, said } from './support.ts'

describe('a decision with a key that nothing reads', () => {
  it.each([
    [
      { kind: 'accept', value: 'redacted' },
      'an accept has the key "value", which nothing here reads, expected `kind`, `content`, `additionalContexts`',
    ],
    [
      { kind: 'accept', additionalContext: [] },
      'an accept has the key "additionalContext", which nothing here reads, did you mean `additionalContexts`?',
    ],
    [
      { kind: 'block', feedback: [], content: [] },
      'a block has the key "content", which nothing here reads, expected `kind`, `feedback`, `additionalContexts`',
    ],
  ])('fails the call after it: %j', async (decision, why) => {
    const host = await Host.start(() => 'a secret', { invariants: false })
    host.ctx.on('tools/post-execute', async () => bogus(decision))
    const result = await host.call()
    expect(codeOf(result)).toBe('BAD_ANSWER')
    expect(said(result)).toContain(`gave a decision that cannot be used: ${why}`)
    expect(said(result)).not.toContain('a secret')
  })

  it('denies the call before it', async () => {
    let ran = false
    const host = await Host.start(() => ((ran = true), 'done'))
    host.ctx.on('tools/pre-execute', async () => bogus({ kind: 'allow', input: { path: '/tmp' } }))
    const result = await host.call()
    expect(codeOf(result)).toBe('DENIED')
    expect(said(result)).toContain('gave a decision that has the key "input", which nothing here reads')
    expect(ran).toBe(false)
  })

  it('is none when the key holds nothing', async () => {
    const host = await Host.start()
    host.ctx.on('tools/pre-execute', async () => bogus({ kind: 'allow', input: undefined }))
    host.ctx.on('tools/post-execute', async () => bogus({ kind: 'accept', value: undefined }))
    expect(said(await host.call())).toBe('done')
  })
})
