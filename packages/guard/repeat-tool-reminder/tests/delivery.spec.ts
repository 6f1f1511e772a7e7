import { Context } from '@deepseek-ai/cordis'
import { createUserMessage, text, type UserMessage } from '@loopguard/llm'
import * as reminder from '@loopguard/repeat-tool-reminder'
import type { Harness } from '@loopguard/testkit'
import ToolRuntime, { type PostToolDecision, type ToolExecutionResult } from '@loopguard/tools'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CALLS, type Call, execute, heard, isReminder, play, postExecute, stage, textOf } from './stage.ts'

afterAll(watchContexts())

// A busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 })

let harness: Harness
let ctx: Context
let agent: ReturnType<Harness['agent']>

beforeEach(async () => {
  harness = await stage({ thresholds: [2, 3] })
  ctx = harness.ctx
  agent = harness.agent()
})
afterEach(() => harness.dispose())

async function times(count: number, call: Call): Promise<ToolExecutionResult[]> {
  const results: ToolExecutionResult[] = []
  for (let time = 0; time < count; time++) results.push(await execute(ctx, call, { agent }))
  return results
}

function note(words: string): UserMessage {
  return createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'notes' } })
}

const said = (result: ToolExecutionResult | undefined): string[] =>
  (result?.additionalContexts ?? []).map((message) => (isReminder(message) ? 'reminder' : textOf(message)))

const bodies = { accept: { kind: 'accept' }, block: { kind: 'block', feedback: [text('blocked')] } } as const

describe('the decision that comes back', () => {
  it.each([
    ['accepted', 'accept'],
    ['blocked', 'block'],
  ] as const)('%s: the reminder comes first, what others added stays', async (_title, kind) => {
    ctx.on('tools/post-execute', async (_exec, _result, next) => {
      await next()
      return { ...bodies[kind], additionalContexts: [note('one'), note('two')] }
    })
    const [first, second, third] = await times(3, CALLS.A)
    expect([said(first), said(second), said(third)]).toEqual([
      ['one', 'two'],
      ['reminder', 'one', 'two'],
      ['reminder', 'one', 'two'],
    ])
  })

  it('contexts that the body deferred stand before those of the decision, as ever; a block drops them, and not the reminder', async () => {
    ctx.tools.register({
      name: 'deferring',
      description: '',
      parameters: {},
      execute(_args, exec) {
        exec.deferContext(note('from the body'))
        return 'done'
      },
    })
    const call = { name: 'deferring', arguments: {} }
    const [, second] = await times(2, call)
    expect(said(second)).toEqual(['from the body', 'reminder'])
    ctx.on('tools/post-execute', async () => bodies.block)
    const [third] = await times(1, call)
    expect(said(third)).toEqual(['reminder'])
  })

  it('content that another listener exchanged stays exchanged, and the rest of the result is as it was', async () => {
    const [plain, reminded] = await times(2, CALLS.A)
    expect(reminded).toEqual({ ...plain, additionalContexts: [expect.anything()] })
    ctx.on('tools/post-execute', async () => ({ kind: 'accept', content: [text('other content')] }))
    const [third] = await times(1, CALLS.A)
    expect(third?.content).toEqual([text('other content')])
    expect(said(third)).toEqual(['reminder'])
  })

  it('the reminder of a failed call leaves its error alone', async () => {
    const [plain, reminded] = await times(2, CALLS.T)
    expect(plain).toMatchObject({ isError: true, error: { message: 'broken' } })
    expect(reminded).toEqual({ ...plain, additionalContexts: [expect.anything()] })
  })

  it('a listener that returns nothing fails the call as it does without the guard', async () => {
    const off = ctx.on('tools/post-execute', (() => {}) as never)
    const [first, second] = await times(2, CALLS.A)
    expect(second).toMatchObject({ isError: true })
    expect(second?.content).toEqual(first?.content)
    off()
    const [third] = await times(1, CALLS.A)
    expect(said(third)).toEqual(['reminder'])
  })

  it.each(['throws', 'rejects'])('a listener that %s fails the call with its own message; the call has counted', async (how) => {
    const off = ctx.on('tools/post-execute', () => {
      const error = new Error('my own fault')
      if (how === 'throws') throw error
      return Promise.reject(error)
    })
    const failed = await times(2, CALLS.A)
    expect(failed.map(({ content }) => content)).toEqual([[text('Error: my own fault')], [text('Error: my own fault')]])
    off()
    const [third] = await times(1, CALLS.A)
    expect(said(third)).toEqual(['reminder'])
  })
})

describe('where it stands', () => {
  it.each([
    ['before', true],
    ['after', false],
  ])('a listener loaded %s it that does not delegate hides nothing, nor does it hide anything', async (_title, early) => {
    const seen: string[] = []
    const veto = {
      name: 'veto',
      apply: (own: Context) =>
        void own.on('tools/post-execute', async (exec) => {
          seen.push(exec.name)
          return bodies.accept
        }),
    }
    const own = new Context()
    await own.plugin(ToolRuntime)
    if (early) await own.plugin(veto)
    await own.plugin(reminder, { thresholds: [2] })
    if (!early) await own.plugin(veto)
    const caller = { id: agent.id, ctx: own }
    const results = await Promise.all([1, 2].map(() => execute(own, CALLS.N, { agent: caller })))
    expect(results.map(said)).toEqual([[], ['reminder']])
    expect(seen).toEqual(['nobody', 'nobody'])
    await own.fiber.dispose()
  })

  it('counts before it delegates: a like call that is made meanwhile is the next one', async () => {
    const own = new Context()
    await own.plugin(reminder, { thresholds: [2] })
    const exec = { ...CALLS.A, agent }
    let inner: Promise<PostToolDecision> | undefined
    const outer = await postExecute(own, exec, {}, () => {
      inner = postExecute(own, exec, {}, () => bodies.accept)
      return bodies.accept
    })
    expect(outer).toBe(bodies.accept)
    expect(await inner).toMatchObject({ additionalContexts: [{ role: 'user' }] })
    await own.fiber.dispose()
  })
})

describe('calls that conclude the turn', () => {
  it('get no reminder, and count', async () => {
    const results = await times(4, CALLS.C)
    expect(results.map(said)).toEqual([[], [], [], []])
    const off = ctx.on('tools/post-execute', async () => bodies.block)
    // Two more, blocked: the fifth and the sixth are at no threshold; the run went on while nothing was said.
    expect((await times(2, CALLS.C)).map(said)).toEqual([[], []])
    off()
  })

  it('get one when they are blocked, since then a request follows', async () => {
    ctx.on('tools/post-execute', async () => bodies.block)
    expect((await times(3, CALLS.C)).map(said)).toEqual([[], ['reminder'], ['reminder']])
  })

  it('in the loop: a blocked call that would have concluded goes on, with a reminder in the log', async () => {
    ctx.on('tools/post-execute', async (exec, _result, next) => (exec.name === 'conclude' ? bodies.block : next()))
    const { model } = harness
    model.push({ calls: [CALLS.C] }, { calls: [CALLS.C] }, { text: 'done' })
    await harness.say(agent, 'go')
    expect(heard(agent)).toBe('C C !')
  })
})

it('a reminder is in the log although the turn is cancelled meanwhile', async () => {
  await play(harness, agent, 'A')
  ctx.on('tools/post-execute', async (_exec, _result, next) => {
    agent.cancel()
    return next()
  })
  await play(harness, agent, 'A', 'P')
  expect(heard(agent)).toBe('A A !')
})
