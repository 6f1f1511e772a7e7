import { describe, expect, it } from 'vitest'
import { codeOf, Host } from './support.ts'

/** So often each of these loops would go round by itself. */
const ROUNDS = 50

/** Keeps the event loop for longer than anybody may. */
function busy(): string {
  for (const until = performance.now() + 5; performance.now() < until;);
  return 'nothing new'
}

/** A signal that a timer aborts soon. */
function soon(): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 1)
  return controller.signal
}

describe('calls without I/O let a timer abort them', () => {
  it('one after the other', async () => {
    const host = await Host.start(busy)
    const signal = soon()
    let calls = 0
    while (calls < ROUNDS && codeOf(await host.call({ signal })) === 'success') calls++
    expect(calls).toBeLessThan(ROUNDS)
  })

  it('also prepared, and never dispatched', async () => {
    const host = await Host.start()
    host.tools.guard(() => (busy(), 'no'))
    const signal = soon()
    let calls = 0
    for (; calls < ROUNDS && !signal.aborted; calls++) await (await host.tools.prepare(host.input({ signal }))).finish()
    expect(calls).toBeLessThan(ROUNDS)
  })

  it('within a call that makes calls', async () => {
    const host = await Host.start(busy)
    let calls = 0
    host.tool({
      name: 'outer',
      async execute(_args, { signal, token }) {
        while (calls < ROUNDS && !signal.aborted) {
          await host.call({ signal, parent: token })
          calls++
        }
        return 'done'
      },
    })
    expect(codeOf(await host.call({ name: 'outer', signal: soon() }))).toBe('ABORTED')
    expect(calls).toBeLessThan(ROUNDS)
  })

  it('between the attempts of a wrapper that tries again and again, whose next one then finds the signal aborted', async () => {
    const host = await Host.start(() => {
      throw new Error(busy())
    })
    const codes: (string | undefined)[] = []
    host.ctx.on('tools/execute', async (_exec, next) => {
      let result = await next()
      for (let n = 1; n < ROUNDS && codeOf(result) !== 'ABORTED_BEFORE_DISPATCH'; n++) {
        result = await next()
        codes.push(codeOf(result))
      }
      return result
    })
    await host.call({ signal: soon() })
    expect(codes.length).toBeLessThan(ROUNDS - 1)
    expect(codes.at(-1)).toBe('ABORTED_BEFORE_DISPATCH')
  })
})
