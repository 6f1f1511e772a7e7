import { getEventListeners } from 'node:events'
import type { Context } from '@deepseek-ai/cordis'
import { gate } from '@loopguard/testkit'
import type { ApprovalRequest, PreToolDecision } from '@loopguard/tools'
import { beforeEach, describe, expect, it } from 'vitest'
import { bogus, type CallOptions, codeOf, Host, said } from './support.ts'

let host: Host
let ran: number

beforeEach(async () => {
  ran = 0
  host = await Host.start(() => `ran ${++ran}`)
})

/** What a call comes to when a pre-execute listener answers `decision`. */
async function deciding(decision: unknown, options: CallOptions = {}): Promise<[code: string | undefined, text: string]> {
  host.ctx.on('tools/pre-execute', async () => decision as PreToolDecision)
  const result = await host.call(options)
  return [codeOf(result), said(result)]
}

describe('a pre-execute decision', () => {
  it('that allows lets the call run', async () => {
    expect(await deciding({ kind: 'allow' })).toEqual(['success', 'ran 1'])
  })

  it('that denies does so with its reason, verbatim', async () => {
    expect(await deciding({ kind: 'deny', reason: 'No:\n  not `this`.' })).toEqual(['DENIED', 'Error: No:\n  not `this`.'])
  })

  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  it.each<[string, unknown, RegExp]>([
    ['a denial without a reason', { kind: 'deny' }, /a listener denied the call without a reason/],
    ['a denial with a blank reason', { kind: 'deny', reason: ' ' }, /a listener denied the call without a reason/],
    ['a denial with something for a reason', { kind: 'deny', reason: 5 }, /a listener denied the call without a reason/],
    ['an unknown kind', { kind: 'alow' }, /a listener of plugin "root" answered with the kind "alow", not allow, deny or ask/],
    ['another case', { kind: 'Allow' }, /answered with the kind "Allow"/],
    ['a kind in an array', { kind: ['allow'] }, /answered with the kind an array/],
    ['no kind', {}, /answered with the kind undefined/],
    ['true', true, /returned true, not a decision/],
    ['"allow"', 'allow', /returned "allow", not a decision/],
    ['null', null, /returned null, not a decision/],
    ['undefined', undefined, /returned undefined, not a decision \(did it forget `return next\(\)`\?\)/],
    ['a list', [{ kind: 'allow' }], /answered with the kind undefined/],
  ])('that is %s denies, and says why', async (_name, decision, why) => {
    const [code, text] = await deciding(decision)
    expect(code).toBe('DENIED')
    expect(text).toMatch(/^Error: tools\/pre-execute: /)
    expect(text).toMatch(why)
    expect(ran).toBe(0)
  })

  it('that cannot even be looked at fails the call', async () => {
    expect((await deciding(revoked))[0]).not.toBe('success')
    expect(ran).toBe(0)
  })

  it('of an outer listener stands over what is inside', async () => {
    host.ctx.on('tools/pre-execute', async (_exec, next) => (await next(), { kind: 'deny', reason: 'outer' }))
    expect(await deciding({ kind: 'allow' })).toEqual(['DENIED', 'Error: outer'])
  })

  it('that never comes from the throw of a listener fails the call with that error', async () => {
    host.ctx.on('tools/pre-execute', () => Promise.reject(Object.assign(new Error('policy server down'), { code: 'EPOLICY' })))
    expect(await host.call()).toMatchObject({ error: { message: 'policy server down', info: { name: 'Error', code: 'EPOLICY' } } })
    expect(ran).toBe(0)
  })
})

describe('an ask', () => {
  const ask = { kind: 'ask', reason: 'it writes' }
  let asked: ApprovalRequest[]

  /** Answers each request with what `answer` gives. */
  function approve(answer: (request: ApprovalRequest) => unknown, ctx: Context = host.ctx): void {
    asked = []
    ctx.provide('approval', { request: (request: ApprovalRequest) => (asked.push(request), answer(request)) })
  }

  it('is put to the approval service, with all that it needs to know', async () => {
    approve(async () => 'allowed-once')
    const agent = await host.agent('a')
    const { signal } = new AbortController()
    expect(await deciding(ask, { agent, signal })).toEqual(['success', 'ran 1'])
    expect(asked).toEqual([{ agent, toolName: 'echo', callId: 'call-1', reason: 'it writes', signal }])
    expect(asked[0]?.agent).toBe(agent)
    expect(asked[0]?.signal).toBe(signal)
    expect(asked[0]).toSatisfy(Object.isFrozen)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('need not give a reason', async () => {
    approve(async () => 'allowed-once')
    expect((await deciding({ kind: 'ask' }, { agent: await host.agent('a') }))[0]).toBe('success')
    expect(asked[0]?.reason).toBeUndefined()
  })

  it.each<[unknown, string]>([
    ['rejected', 'approval of tool "echo" was rejected'],
    ['cancelled', 'approval of tool "echo" was cancelled'],
    ['unavailable', 'approval of tool "echo" is unavailable'],
    ['allowed', 'approval of tool "echo" got an unknown answer: "allowed"'],
    [true, 'approval of tool "echo" got an unknown answer: true'],
    [undefined, 'approval of tool "echo" got an unknown answer: undefined'],
    [['allowed-once'], 'approval of tool "echo" got an unknown answer: an array'],
  ])('answered with %j is denied', async (answer, reason) => {
    approve(async () => answer)
    expect(await deciding(ask, { agent: await host.agent('a') })).toEqual(['DENIED', `Error: ${reason}`])
    expect(ran).toBe(0)
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no terminal')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no terminal'))],
  ])('of a service that %s is denied', async (_name, answer) => {
    approve(answer)
    expect(await deciding(ask, { agent: await host.agent('a') })).toEqual(['DENIED', 'Error: approval of tool "echo" failed: no terminal'])
  })

  it('without a service, without an agent: each is denied for its own reason', async () => {
    const agent = await host.agent('a')
    expect(await deciding(ask, { agent })).toEqual(['DENIED', 'Error: tool "echo" needs approval, and there is no approval service'])
    approve(async () => 'allowed-once')
    expect(said(await host.call())).toBe('Error: tool "echo" needs approval, and a call without an agent has nobody to ask')
    expect(asked).toEqual([])
  })

  it('finds the service that is there at that moment', async () => {
    const agent = await host.agent('a')
    host.ctx.on('tools/pre-execute', async () => ask as PreToolDecision)
    const plugin = host.ctx.plugin({ name: 'approver', apply: (ctx: Context) => approve(async () => 'allowed-once', ctx) })
    await plugin
    expect(codeOf(await host.call({ agent }))).toBe('success')
    await plugin.dispose()
    expect(codeOf(await host.call({ agent }))).toBe('DENIED')
  })

  it('that the caller leaves is an abort before dispatch, through post-execute, also when nobody ever answers', async () => {
    const asking = gate()
    approve(() => (asking.open(), new Promise(() => {})))
    const caller = new AbortController()
    const seen: string[] = []
    host.ctx.on('tools/post-execute', (_exec, _result, next) => (seen.push('post'), next()))
    const running = deciding(ask, { agent: await host.agent('a'), signal: caller.signal })
    await asking.opened
    caller.abort()
    expect(await running).toEqual(['ABORTED_BEFORE_DISPATCH', 'Error: tool call aborted before dispatch'])
    expect(seen).toEqual(['post'])
    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
  })

  it.each<[string, unknown]>([
    ['a grant', 'allowed-once'],
    ['a refusal', 'rejected'],
  ])('that the caller leaves in the same moment as %s comes is an abort', async (_name, answer) => {
    const caller = new AbortController()
    approve(async () => (caller.abort(), answer))
    expect((await deciding(ask, { agent: await host.agent('a'), signal: caller.signal }))[0]).toBe('ABORTED_BEFORE_DISPATCH')
  })

  it('of a caller who has left already is not put to anybody', async () => {
    approve(async () => 'allowed-once')
    const caller = new AbortController()
    host.ctx.on('tools/pre-execute', (_exec, next) => (caller.abort(), next()))
    expect((await deciding(ask, { agent: await host.agent('a'), signal: caller.signal }))[0]).toBe('ABORTED_BEFORE_DISPATCH')
    expect(asked).toEqual([])
  })

  it('and an answer that fails after the caller has left is no unhandled rejection', async () => {
    const asking = gate()
    approve(() => (asking.open(), new Promise((_resolve, reject) => void later.opened.then(() => reject(new Error('too late'))))))
    const later = gate()
    const caller = new AbortController()
    const running = deciding(ask, { agent: await host.agent('a'), signal: caller.signal })
    await asking.opened
    caller.abort()
    await running
    const unhandled: unknown[] = []
    const listen = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', listen)
    later.open()
    await new Promise(setImmediate)
    process.off('unhandledRejection', listen)
    expect(unhandled).toEqual([])
  })

  it('that is granted still has to pass the guards', async () => {
    approve(async () => 'allowed-once')
    host.tools.guard(() => 'not even then')
    expect(await deciding(ask, { agent: await host.agent('a') })).toEqual(['DENIED', 'Error: not even then'])
  })
})

describe('a guard', () => {
  it('that has nothing to say lets the call pass; the first reason denies, and nobody is asked after it', async () => {
    const asked: string[] = []
    host.tools.guard(() => bogus(void asked.push('first')))
    expect(codeOf(await host.call())).toBe('success')
    host.tools.guard(() => (asked.push('second'), 'because'))
    host.tools.guard(() => (asked.push('third'), 'also'))
    expect(said(await host.call())).toBe('Error: because')
    expect(asked).toEqual(['first', 'first', 'second'])
    expect(ran).toBe(1)
  })

  it('cannot be overruled by a pre-execute listener', async () => {
    host.tools.guard(() => 'never')
    host.ctx.on('tools/pre-execute', async () => ({ kind: 'allow' }), { prepend: true })
    expect(said(await host.call())).toBe('Error: never')
  })

  it('is not asked about what is denied already', async () => {
    let asked = 0
    host.tools.guard(() => bogus(void asked++))
    await deciding({ kind: 'deny', reason: 'no' })
    expect(asked).toBe(0)
  })

  it('is asked about unknown tools and about arguments that the tool would not take', async () => {
    host.tool({ name: 'strict', parameters: { type: 'object', required: ['x'] } })
    host.tools.guard(({ name }) => `not ${name}`)
    expect(said(await host.call({ name: 'ehco' }))).toBe('Error: not ehco')
    expect(said(await host.call({ name: 'strict' }))).toBe('Error: not strict')
  })

  it.each<[string, unknown, string]>([
    ['null', null, 'null, not a reason or undefined'],
    ['true', true, 'true, not a reason or undefined'],
    ['false', false, 'false, not a reason or undefined'],
    ['an object', { kind: 'allow' }, 'an object, not a reason or undefined'],
    ['a promise', Promise.resolve(undefined), 'a promise, not a reason or undefined'],
  ])('that returns %s denies', async (_name, answer, why) => {
    host.tools.guard(() => bogus(answer))
    expect(said(await host.call())).toBe(`Error: a guard of plugin "root" returned ${why}`)
    expect(ran).toBe(0)
  })

  it('that returns an empty reason denies without one', async () => {
    host.tools.guard(() => '')
    expect(said(await host.call())).toBe('Error: a guard of plugin "root" denied the call without a reason')
  })

  it('that throws whatever it likes denies', async () => {
    host.tools.guard(() => {
      throw null
    })
    expect(said(await host.call())).toBe('Error: a guard of plugin "root" failed: null')
  })

  it('registered twice is there twice, and each disposer takes one away', async () => {
    let asked = 0
    const guard = (): undefined => void asked++
    const dispose = host.tools.guard(guard)
    host.tools.guard(guard)
    await host.call()
    dispose()
    dispose()
    await host.call()
    expect(asked).toBe(3)
  })

  it('that is no function is refused', () => {
    expect(() => host.tools.guard(bogus('no'))).toThrow(
      expect.objectContaining({ code: 'BAD_GUARD', message: 'tools: a guard must be a function, got "no"' }),
    )
  })

  it('added or removed while the guards are asked counts from the next call on', async () => {
    const asked: string[] = []
    let dispose = (): void => {}
    host.tools.guard(() => {
      asked.push('first')
      dispose()
      if (asked.length === 1) host.tools.guard(() => bogus(void asked.push('added')))
      return undefined
    })
    dispose = host.tools.guard(() => bogus(void asked.push('removed')))
    await host.call()
    await host.call()
    expect(asked).toEqual(['first', 'removed', 'first', 'added'])
  })
})
