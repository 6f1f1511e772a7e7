import { Context } from '@deepseek-ai/cordis'
import * as guard from '@loopguard/repeated-failure-reminder'
import { captureErrors, type LoggedError } from '@loopguard/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { postExecute, preStep } from './stage.ts'

// What a host may do that ours never does. Nothing of it may change a result.

let ctx: Context
let log: readonly LoggedError[]
const agent = { id: 'agent' }
const accepted = Object.freeze({ kind: 'accept' })
const A = { name: 'look', arguments: { at: 'a' } }
const failure = Object.freeze({ isError: true, content: [{ type: 'text', text: 'no such file' }] })

beforeEach(async () => {
  ctx = new Context()
  log = captureErrors(ctx)
  await ctx.plugin(guard, { thresholds: [2] })
})
afterEach(() => ctx.fiber.dispose())

const call = (exec: unknown, ...[result = failure]: unknown[]): Promise<unknown> => postExecute(ctx, exec, result, () => accepted)

/** Whether the next failing call A is the second. */
async function isSecond(): Promise<boolean> {
  return (await call({ ...A, agent })) !== accepted
}

const hostile = (): unknown => ({
  get a(): never {
    throw new Error('not for you')
  },
})

describe('a fault of its own', () => {
  it.each([
    ['arguments that throw when they are read', { name: 'look', arguments: hostile(), agent }, failure],
    ['a name that throws', Object.defineProperty({ arguments: {}, agent }, 'name', { get: () => (hostile() as { a: string }).a }), failure],
    [
      'a result that throws',
      { ...A, agent },
      {
        isError: true,
        get content(): never {
          throw new Error('not for you')
        },
      },
    ],
    ['a block that throws', { ...A, agent }, { isError: true, content: [{ toJSON: () => (hostile() as { a: string }).a }] }],
    ['no execution', undefined, failure],
  ])('is logged at error level, and lets the call through: %s', async (_title, exec, result) => {
    expect(await call(exec, result)).toBe(accepted)
    expect(log.map(({ name }) => name)).toEqual(['repeated-failure-reminder'])
    expect(log[0]?.text).toMatch(/^could not count a call, the call goes on as if nothing was due: /)
    await call({ ...A, agent })
    expect(await isSecond()).toBe(true)
  })

  it('of the session log is none of the log', () => {
    const emit = ctx.events.emit.bind(ctx.events) as (...args: unknown[]) => void
    for (const content of [undefined, null, [null], [{ type: 'tool-call' }], [{ type: 'tool-call', name: 'a', arguments: '{' }]]) {
      expect(() => emit('session/event', { id: 'agent' }, { type: 'assistant/message', data: { message: { content } } })).not.toThrow()
    }
    expect(() => emit('session/event', { id: 'agent' }, { type: 'assistant/message' })).not.toThrow()
  })

  it('while it is logged is contained too', async () => {
    ctx.logger.exporter({
      levels: { default: 0 },
      export() {
        throw new Error('the log is full')
      },
    })
    expect(await call({ name: 'look', arguments: hostile(), agent })).toBe(accepted)
  })
})

describe('a result that is odd', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'no such file'],
    ['no content', { isError: true }],
    ['a flag that is none', { isError: 'yes', content: [] }],
  ])('is no failure: %s', async (_title, result) => {
    for (let time = 0; time < 3; time++) expect(await postExecute(ctx, { ...A, agent }, result, () => accepted)).toBe(accepted)
    expect(log).toEqual([])
  })

  it('one without a block is an error like any other', async () => {
    await call({ ...A, agent }, { isError: true, content: [] })
    expect(await call({ ...A, agent }, { isError: true, content: [] })).toMatchObject({ additionalContexts: [{ role: 'user' }] })
  })
})

describe('an execution or a decision that is odd', () => {
  it.each([
    ['an agent that is text', { ...A, agent: 'agent' }],
    ['no agent', A],
    ['an enclosing call', { ...A, agent, parent: 'token' }],
  ])('is not counted, and no fault: %s', async (_title, exec) => {
    for (let time = 0; time < 3; time++) expect(await call(exec)).toBe(accepted)
    expect(log).toEqual([])
  })

  it.each([
    ['nothing', undefined],
    ['text', 'accept'],
    ['an unknown kind', { kind: 'defer', additionalContexts: [] }],
    ['contexts that are no list', { kind: 'accept', additionalContexts: 'a note' }],
  ])('is passed on unchanged, for the host to judge: %s', async (_title, garbage) => {
    for (let time = 0; time < 3; time++) expect(await postExecute(ctx, { ...A, agent }, failure, () => garbage)).toBe(garbage)
    expect(log).toEqual([])
  })

  it('a step without messages goes on, and starts nothing afresh', async () => {
    await call({ ...A, agent })
    const answer = { kind: 'enter' }
    for (const event of [undefined, { agent }, { agent, messages: 'hello' }, { agent, messages: [null, { source: 'user' }] }])
      expect(preStep(ctx, event, () => answer)).toBe(answer)
    expect(await isSecond()).toBe(true)
    preStep(ctx, { agent, messages: [{ source: { kind: 'user' } }] })
    expect(await isSecond()).toBe(false)
  })
})
