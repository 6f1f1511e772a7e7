import { Context } from '@deepseek-ai/cordis'
import * as reminder from '@loopguard/repeat-tool-reminder'
import { captureErrors, type LoggedError } from '@loopguard/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CALLS, postExecute, preStep } from './stage.ts'

// What a host may do that ours never does. Nothing of it may change a result.

let ctx: Context
let log: readonly LoggedError[]
const agent = { id: 'agent' }
const accepted = Object.freeze({ kind: 'accept' })

beforeEach(async () => {
  ctx = new Context()
  log = captureErrors(ctx)
  await ctx.plugin(reminder, { thresholds: [2] })
})
afterEach(() => ctx.fiber.dispose())

const call = (exec: unknown, result: unknown = {}, decision: unknown = accepted): Promise<unknown> =>
  postExecute(ctx, exec, result, () => decision)

/** Whether the next call A is the second in a row. */
async function isSecond(): Promise<boolean> {
  return (await call({ ...CALLS.A, agent })) !== accepted
}

const hostile = (): unknown => ({
  get a(): never {
    throw new Error('not for you')
  },
})

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const cycle = (): unknown => {
  const list: unknown[] = [new (class Holder {})()]
  Object.assign(list[0] as object, { list })
  return list
}

describe('a call that cannot be told from others', () => {
  it.each([
    ['a getter that throws', hostile, 'not for you'],
    ['a revoked proxy', revoked, 'Cannot perform'],
    ['an instance that holds itself', cycle, 'circular'],
  ])('goes on, is logged at error level, and ends the run: %s', async (_title, args, why) => {
    await call({ ...CALLS.A, agent })
    expect(await call({ name: 'look', arguments: args(), agent })).toBe(accepted)
    expect(log).toHaveLength(1)
    expect(log[0]?.name).toBe('repeat-tool-reminder')
    expect(log[0]?.text).toMatch(/^could not count a call, the call goes on as if nothing was due: /)
    expect(log[0]?.text).toContain(why)
    expect(await isSecond()).toBe(false)
    expect(await isSecond()).toBe(true)
  })
})

describe('an execution or a result that is odd', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'exec'],
    ['an empty object', {}],
  ])('%s', async (_title, exec) => {
    for (let time = 0; time < 3; time++) expect(await call(exec)).toBe(accepted)
  })

  it('a name that is no text matches no pattern, and is a fault at worst', async () => {
    const other = new Context()
    const errors = captureErrors(other)
    await other.plugin(reminder, { thresholds: [2, 3], include: ['look*'] })
    for (const name of [undefined, 7]) {
      const exec = { name, arguments: {}, agent }
      for (let time = 0; time < 3; time++) expect(await postExecute(other, exec, {}, () => accepted)).toBe(accepted)
      for (let time = 0; time < 3; time++) expect(await call(exec)).toMatchObject({ kind: 'accept' })
    }
    expect(errors).toHaveLength(6)
  })

  it.each([
    ['an agent that is text', { ...CALLS.A, agent: 'agent' }],
    ['an agent that is null', { ...CALLS.A, agent: null }],
    ['an enclosing call that is a text', { ...CALLS.A, agent, parent: 'token' }],
  ])('is not counted, and no fault: %s', async (_title, exec) => {
    for (let time = 0; time < 3; time++) expect(await call(exec)).toBe(accepted)
    expect(log).toEqual([])
  })

  it('an enclosing call of null is none', async () => {
    await call({ ...CALLS.A, agent, parent: null })
    expect(await call({ ...CALLS.A, agent, parent: null })).toMatchObject({ additionalContexts: [{ role: 'user' }] })
  })

  it.each([
    ['no result', undefined],
    ['null', null],
    ['text', 'done'],
  ])('%s concludes nothing', async (_title, result) => {
    const exec = { ...CALLS.A, agent }
    await postExecute(ctx, exec, result, () => accepted)
    expect(await postExecute(ctx, exec, result, () => accepted)).toMatchObject({ additionalContexts: [{ role: 'user' }] })
    expect(log).toEqual([])
  })

  it('no arguments at all count as a call of their own', async () => {
    const exec = { name: 'look', arguments: undefined, agent }
    await call(exec)
    expect(await call(exec)).not.toBe(accepted)
    expect(log).toEqual([])
  })

  it('a decision that throws when it is read is passed on unread', async () => {
    const decision = Object.defineProperty({}, 'kind', {
      get() {
        throw new Error('not for you')
      },
    })
    await call({ ...CALLS.A, agent })
    expect(await call({ ...CALLS.A, agent }, {}, decision)).toBe(decision)
    expect(log.map(({ text }) => text.split('\n')[0])).toEqual([expect.stringContaining('could not remind')])
  })

  it('a decision that is no promise is taken as it is', async () => {
    await postExecute(ctx, { ...CALLS.A, agent }, {}, () => accepted)
    expect(await postExecute(ctx, { ...CALLS.A, agent }, {}, () => accepted)).toMatchObject({ kind: 'accept', additionalContexts: [{}] })
  })
})

describe('a decision that needs no reminder, or is none', () => {
  it('is passed on as the very object that came', async () => {
    const decision = Object.freeze({ kind: 'accept', additionalContexts: Object.freeze([]) })
    expect(await call({ ...CALLS.A, agent }, {}, decision)).toBe(decision)
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'accept'],
    ['an unknown kind', { kind: 'defer', additionalContexts: [] }],
    ['no kind', {}],
    ['contexts that are no list', { kind: 'accept', additionalContexts: 'a note' }],
    ['contexts that are null', { kind: 'block', feedback: [], additionalContexts: null }],
  ])('is passed on unchanged, for the host to judge: %s', async (_title, garbage) => {
    const before = JSON.stringify(garbage)
    for (let time = 0; time < 3; time++) {
      expect(await postExecute(ctx, { ...CALLS.A, agent }, {}, () => garbage)).toBe(garbage)
    }
    expect(JSON.stringify(garbage)).toBe(before)
    expect(log).toEqual([])
  })
})

describe('a step that is odd', () => {
  it.each([
    ['no messages', { agent }],
    ['messages that are no list', { agent, messages: 'hello' }],
    ['nothing', undefined],
    ['a list of nothing', { agent, messages: [undefined, null, 'hello', 7, {}, { source: null }, { source: 'user' }] }],
    ['a user without an agent', { messages: [{ source: { kind: 'user' } }] }],
    ['a message that throws when it is read', { agent, messages: [hostile(), revoked()] }],
  ])('%s: goes on, and the run with it', async (_title, event) => {
    await call({ ...CALLS.A, agent })
    const answer = { kind: 'enter' }
    expect(preStep(ctx, event, () => answer)).toBe(answer)
    expect(await isSecond()).toBe(true)
  })

  it('a user among other messages is heard', async () => {
    await call({ ...CALLS.A, agent })
    preStep(ctx, { agent, messages: [null, { source: { kind: 'plugin', plugin: 'user' } }, { source: { kind: 'user', name: 'Ann' } }] })
    expect(await isSecond()).toBe(false)
  })

  it('a throw of the host goes through', () => {
    const fail = (): never => {
      throw new Error('of the host')
    }
    expect(() => preStep(ctx, { agent, messages: [] }, fail)).toThrow('of the host')
    expect(() => postExecute(ctx, { ...CALLS.A, agent }, {}, fail)).toThrow('of the host')
  })
})

describe('a fault while a fault is logged', () => {
  it.each([
    ['an exporter that throws', new Error('first')],
    ['a thrown value that cannot be shown', Object.create(null) as unknown],
  ])('is contained too: %s', async (_title, thrown) => {
    ctx.logger.exporter({
      levels: { default: 0 },
      export() {
        throw new Error('the log is full')
      },
    })
    const args = {
      get a(): never {
        throw thrown
      },
    }
    expect(await call({ name: 'look', arguments: args, agent })).toBe(accepted)
  })
})

it('a call that began before the guard was unloaded still ends well', async () => {
  const other = new Context()
  const errors = captureErrors(other)
  const fiber = await other.plugin(reminder, { thresholds: [2] })
  await postExecute(other, { ...CALLS.A, agent }, {}, () => accepted)
  const decision = await postExecute(other, { ...CALLS.A, agent }, {}, async () => {
    await fiber.dispose()
    return accepted
  })
  expect(decision).toMatchObject({ kind: 'accept', additionalContexts: [{ role: 'user' }] })
  expect(errors).toEqual([])
})
