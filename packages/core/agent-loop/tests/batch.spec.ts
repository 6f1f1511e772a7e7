import { describe, expect, it } from 'vitest'
import type { Context } from '@deepseek-ai/cordis'
import { createUserMessage, text, type UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { gatedTool, tool } from './support/tools.ts'
import { veto } from './support/veto.ts'

const calls = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) })
const note = (words: string): UserMessage => createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'note' } })
const safe = { isConcurrencySafe: () => true }

/** The lines of the batch alone: all between the model's message and the end of the step. */
const batchOf = (lines: readonly string[]): string[] =>
  lines.slice(lines.findIndex((line) => line.startsWith('model')) + 1, lines.indexOf('end 1.1'))

/** Settles when `line` stands in the log of an agent. */
function logged(ctx: Context, is: (event: SessionEvent) => boolean): Promise<void> {
  return new Promise((resolve) => void ctx.on('session/event', (_session, event) => (is(event) ? resolve() : undefined)))
}

describe('calls that may overlap', () => {
  const orders = [
    [1, 2, 3],
    [1, 3, 2],
    [2, 1, 3],
    [2, 3, 1],
    [3, 1, 2],
    [3, 2, 1],
  ]

  it.each(orders)('finish %i, %i, %i: policy, post-execute, log and contexts keep the order of the model', async (...order) => {
    const slow = gatedTool('slow', safe)
    await using harness = await createHarness({ script: [calls('slow', 'slow', 'slow'), { text: 'seen' }], tools: [slow.definition] })
    const agent = harness.agent()
    const stages: string[] = []
    harness.ctx.on('tools/pre-execute', (exec, next) => (stages.push(`pre ${exec.callId}`), next()))
    harness.ctx.on('tools/post-execute', async (exec, _result, next) => {
      stages.push(`post ${exec.callId}`)
      return { ...(await next()), additionalContexts: [note(`about ${exec.callId}`)] }
    })
    agent.followup(userMessage('go'))
    await slow.begun('call_3').opened
    expect([1, 2, 3].map((n) => slow.begun(`call_${n}`).isOpen)).toEqual([true, true, true])
    for (const n of order) {
      slow.release(`call_${n}`).open()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await agent.whenIdle()
    expect(stages).toEqual(['pre call_1', 'pre call_2', 'pre call_3', 'post call_1', 'post call_2', 'post call_3'])
    expect(batchOf(story(agent.session))).toEqual([
      'call call_1',
      'call call_2',
      'call call_3',
      'result call_1: done call_1',
      'result call_2: done call_2',
      'result call_3: done call_3',
      'user about call_1',
      'user about call_2',
      'user about call_3',
    ])
  })

  it('no more than maxParallelToolCalls bodies run at once, and a free place is taken at once', async () => {
    const slow = gatedTool('slow', safe)
    await using harness = await createHarness({
      script: [calls('slow', 'slow', 'slow', 'slow'), { text: 'seen' }],
      tools: [slow.definition],
      loop: { maxParallelToolCalls: 2 },
    })
    const agent = harness.agent()
    const begun = () => [1, 2, 3, 4].filter((n) => slow.begun(`call_${n}`).isOpen)
    agent.followup(userMessage('go'))
    await slow.begun('call_2').opened
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun()).toEqual([1, 2])
    slow.release('call_2').open()
    await slow.begun('call_3').opened
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun()).toEqual([1, 2, 3])
    for (const n of [4, 3, 1]) slow.release(`call_${n}`).open()
    await agent.whenIdle()
    expect(batchOf(story(agent.session)).filter((line) => line.startsWith('result'))).toEqual(
      [1, 2, 3, 4].map((n) => `result call_${n}: done call_${n}`),
    )
  })

  it('a call that is not safe waits for all before it, and all after it wait for it', async () => {
    const slow = gatedTool('slow', safe)
    const alone = gatedTool('alone')
    await using harness = await createHarness({
      script: [calls('slow', 'slow', 'alone', 'slow', 'slow'), { text: 'seen' }],
      tools: [slow.definition, alone.definition],
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await slow.begun('call_2').opened
    slow.release('call_2').open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(alone.begun('call_3').isOpen).toBe(false)
    slow.release('call_1').open()
    await alone.begun('call_3').opened
    await new Promise((resolve) => setImmediate(resolve))
    expect(slow.begun('call_4').isOpen).toBe(false)
    alone.release('call_3').open()
    await slow.begun('call_5').opened
    slow.release('call_5').open()
    slow.release('call_4').open()
    await agent.whenIdle()
    expect(batchOf(story(agent.session))).toEqual([
      'call call_1',
      'call call_2',
      'result call_1: done call_1',
      'result call_2: done call_2',
      'call call_3',
      'result call_3: done call_3',
      'call call_4',
      'call call_5',
      'result call_4: done call_4',
      'result call_5: done call_5',
    ])
  })

  it.each([
    ['1', () => 1],
    ['a promise of true', () => Promise.resolve(true)],
    [
      'a throw',
      () => {
        throw new Error('who knows')
      },
    ],
  ])('isConcurrencySafe that gives %s is a barrier', async (_what, isConcurrencySafe) => {
    const slow = gatedTool('slow', { isConcurrencySafe: isConcurrencySafe as never })
    await using harness = await createHarness({ script: [calls('slow', 'slow'), { text: 'seen' }], tools: [slow.definition] })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await slow.begun('call_1').opened
    await new Promise((resolve) => setImmediate(resolve))
    expect(slow.begun('call_2').isOpen).toBe(false)
    slow.release('call_1').open()
    slow.release('call_2').open()
    await agent.whenIdle()
    expect(batchOf(story(agent.session))).toEqual([
      'call call_1',
      'result call_1: done call_1',
      'call call_2',
      'result call_2: done call_2',
    ])
  })

  it('asks isConcurrencySafe with the parsed arguments', async () => {
    const asked: unknown[] = []
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'look', arguments: { at: [1] } }] }, { text: 'seen' }],
      tools: [tool('look', undefined, { isConcurrencySafe: (args) => (asked.push(args), true) })],
    })
    await harness.say(harness.agent(), 'go')
    expect(asked).toEqual([{ at: [1] }])
  })

  it('a slow approval does not delay the log of the calls before it, and delays the policy of those after it', async () => {
    const quick = tool('quick', undefined, safe)
    const asked = gate()
    const answer = gate()
    await using harness = await createHarness({
      script: [calls('quick', 'risky', 'quick'), { text: 'seen' }],
      tools: [quick, { ...quick, name: 'risky' }],
    })
    const agent = harness.agent()
    const policy: string[] = []
    harness.ctx.on('tools/pre-execute', (exec, next) => {
      policy.push(exec.callId)
      return exec.name === 'risky' ? Promise.resolve({ kind: 'ask' }) : next()
    })
    harness.ctx.provide('approval', {
      async request() {
        asked.open()
        await answer.opened
        return 'rejected'
      },
    })
    const first = logged(harness.ctx, ({ type }) => type === 'tool/result')
    agent.followup(userMessage('go'))
    await asked.opened
    await first
    expect(batchOf([...story(agent.session), 'end 1.1'])).toEqual(['call call_1', 'result call_1: ok'])
    expect(policy).toEqual(['call_1', 'call_2'])
    answer.open()
    await agent.whenIdle()
    expect(policy).toEqual(['call_1', 'call_2', 'call_3'])
    expect(batchOf(story(agent.session)).filter((line) => line.startsWith('result'))).toEqual([
      'result call_1: ok',
      'result call_2 failed DENIED',
      'result call_3: ok',
    ])
  })
})

describe('every call has its answer', () => {
  it('whatever became of it', async () => {
    await using harness = await createHarness({
      script: [calls('nobody', 'picky', 'denied', 'broken', 'coded', 'empty'), { text: 'seen' }],
      tools: [
        tool('picky', undefined, { parameters: { type: 'object', required: ['path'] } }),
        tool('denied'),
        tool('broken', () => Promise.reject(new Error('no luck'))),
        tool('coded', () => Promise.reject(Object.assign(new Error('no disk'), { code: 'ENOSPC' }))),
        tool('empty', (() => undefined) as never),
      ],
    })
    harness.ctx.tools.guard(({ name }) => (name === 'denied' ? 'not today' : undefined))
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(batchOf(story(agent.session))).toEqual([
      'call call_1',
      'result call_1 failed UNKNOWN_TOOL',
      'call call_2',
      'result call_2 failed INVALID_ARGS',
      'call call_3',
      'result call_3 failed DENIED',
      'call call_4',
      'result call_4 failed: Error: no luck',
      'call call_5',
      'result call_5 failed ENOSPC',
      'call call_6',
      'result call_6 failed INVALID_TOOL_OUTPUT',
    ])
    const results = agent.session.events.filter((event) => event.type === 'tool/result')
    expect(results.map(({ data }) => data.error)).toEqual([
      { name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' },
      { name: 'ToolArgsError', code: 'INVALID_ARGS' },
      { name: 'ToolDeniedError', code: 'DENIED' },
      undefined,
      { name: 'Error', code: 'ENOSPC' },
      { name: 'ToolOutputError', code: 'INVALID_TOOL_OUTPUT' },
    ])
  })

  it('two calls of one id are two calls', async () => {
    let runs = 0
    await using harness = await createHarness({
      script: [{ calls: [1, 2].map(() => ({ name: 'look', arguments: {}, id: 'same' })) }, { text: 'seen' }],
      tools: [tool('look', () => `run ${++runs}`)],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(batchOf(story(agent.session))).toEqual(['call same', 'result same: run 1', 'call same', 'result same: run 2'])
  })

  it('the log holds the raw text of the arguments and the body gets what it stands for', async () => {
    const seen: unknown[] = []
    const raw = ['', '{"a": 1}', '{"a"', '{"n":1e999}', '-0']
    await using harness = await createHarness({
      script: [{ calls: raw.map((text) => ({ name: 'look', arguments: text })) }, { text: 'seen' }],
      tools: [tool('look', (args) => (seen.push(args), 'ok'))],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(seen).toEqual([{}, { a: 1 }, '{"a"', '{"n":1e999}', 0])
    expect(agent.session.events.flatMap((event) => (event.type === 'tool/call' ? [event.data.arguments] : []))).toEqual(raw)
  })
})

describe('contexts', () => {
  it('stand after the last result of the step, in call order, each message once', async () => {
    const shared = note('shared')
    await using harness = await createHarness({
      script: [calls('first', 'second'), { text: 'seen' }],
      tools: [
        tool('first', (_args, exec) => {
          exec.deferContext(note('of the first body'))
          exec.deferContext(shared)
          return 'one'
        }),
        tool('second', (_args, exec) => (exec.deferContext(shared), 'two')),
      ],
    })
    harness.ctx.on('tools/post-execute', async (exec, _result, next) => ({
      ...(await next()),
      additionalContexts: [shared, note(`decided on ${exec.name}`)],
    }))
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(batchOf(story(agent.session))).toEqual([
      'call call_1',
      'result call_1: one',
      'call call_2',
      'result call_2: two',
      'user of the first body',
      'user shared',
      'user decided on first',
      'user decided on second',
    ])
    expect(harness.model.requests[1]?.messages).toEqual(agent.session.deriveMessages().slice(0, 8))
  })

  it('a message that stands in the log already, as a context or as a sent message, is not logged again', async () => {
    const shared = note('shared')
    const sent = userMessage('go')
    await using harness = await createHarness({
      script: [calls('look'), calls('look'), { text: 'seen' }],
      tools: [tool('look', (_args, exec) => (exec.deferContext(shared), exec.deferContext(sent), 'ok'))],
    })
    const agent = harness.agent()
    agent.followup(sent)
    await agent.whenIdle()
    expect(story(agent.session).filter((line) => line.startsWith('user'))).toEqual(['user go', 'user shared'])
  })

  it('keep no turn open and pass no pre-step', async () => {
    await using harness = await createHarness({
      script: [calls('finish')],
      tools: [tool('finish', (_args, exec) => (exec.deferContext(note('for later')), 'bye'), { concludesTurn: true })],
    })
    const claimed: number[] = []
    harness.ctx.on('agent/pre-step', ({ messages }, next) => (claimed.push(messages.length), next()))
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent.session).slice(-4)).toEqual(['result call_1: bye', 'user for later', 'end 1.1', 'end 1 completed'])
    expect(claimed).toEqual([1])
  })

  it('are logged also when the turn was cancelled meanwhile', async () => {
    await using harness = await createHarness({
      script: [calls('look', 'look')],
      tools: [
        tool('look', (_args, exec) => {
          exec.deferContext(note(`seen by ${exec.callId}`))
          agent.cancel()
          throw new Error('stopped')
        }),
      ],
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent.session).slice(-7)).toEqual([
      'call call_1',
      'result call_1 failed: Error: stopped',
      'call call_2',
      'result call_2 failed ABORTED_BEFORE_DISPATCH',
      'user seen by call_1',
      'end 1.1',
      'end 1 aborted by user',
    ])
  })
})

describe('a log that refuses an event of a batch', () => {
  it('a refused tool/call starts nothing, and every call is answered', async () => {
    const ran: string[] = []
    await using harness = await createHarness({
      script: [calls('look', 'look', 'look')],
      tools: [tool('look', (_args, { callId }) => (ran.push(callId), 'ok'))],
    })
    veto(harness.ctx, (event) => event.type === 'tool/call' && event.data.callId === 'call_2')
    const agent = harness.agent()
    const ended: string[] = []
    harness.ctx.on('tools/result', ({ callId }) => void ended.push(callId))
    await harness.say(agent, 'go')
    expect(ran).toEqual(['call_1'])
    // It had been begun before it was to be logged.
    expect(ended).toEqual(['call_1', 'call_2'])
    expect(harness.ctx.tools.running()).toEqual([])
    expect(story(agent.session).slice(-6)).toEqual([
      'call call_1',
      'result call_1: ok',
      'result call_2 failed TOOL_NOT_STARTED',
      'result call_3 failed TOOL_NOT_STARTED',
      'end 1.1',
      'end 1 error VETO',
    ])
  })

  it('of two calls of one id each gets its answer', async () => {
    await using harness = await createHarness({
      script: [{ calls: [1, 2].map(() => ({ name: 'look', arguments: {}, id: 'same' })) }],
      tools: [tool('look')],
    })
    let calls = 0
    veto(harness.ctx, ({ type }) => type === 'tool/call' && ++calls === 2)
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(batchOf(story(agent.session))).toEqual(['call same', 'result same: ok', 'result same failed TOOL_NOT_STARTED'])
    expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 error VETO'])
  })

  it('a refused tool/result is answered as unknown; bodies that run are awaited, and contexts are kept', async () => {
    const slow = gatedTool('slow', safe)
    await using harness = await createHarness({ script: [calls('slow', 'slow', 'slow')], tools: [slow.definition] })
    harness.ctx.on('tools/post-execute', async (exec, _result, next) => ({
      ...(await next()),
      additionalContexts: [note(`about ${exec.callId}`)],
    }))
    veto(harness.ctx, (event) => event.type === 'tool/result' && event.data.message.source.callId === 'call_2')
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await slow.begun('call_3').opened
    slow.release('call_1').open()
    slow.release('call_2').open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(agent.status).toBe('running')
    slow.release('call_3').open()
    await agent.whenIdle()
    expect(batchOf(story(agent.session))).toEqual([
      'call call_1',
      'call call_2',
      'call call_3',
      'result call_1: done call_1',
      'result call_3: done call_3',
      'result call_2 failed TOOL_OUTCOME_UNKNOWN',
      'user about call_1',
      'user about call_3',
    ])
    expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 error VETO'])
  })

  it('of several refusals the first one ends the turn', async () => {
    const slow = gatedTool('slow', safe)
    await using harness = await createHarness({ script: [calls('slow', 'slow')], tools: [slow.definition] })
    for (const [callId, code] of [
      ['call_1', 'FIRST'],
      ['call_2', 'SECOND'],
    ] as const) {
      veto(harness.ctx, (event) => event.type === 'tool/result' && event.data.message.source.callId === callId, { code })
    }
    veto(harness.ctx, ({ type }) => type === 'step/end', { code: 'THIRD' })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await slow.begun('call_2').opened
    for (const id of ['call_1', 'call_2']) slow.release(id).open()
    await agent.whenIdle()
    expect(story(agent.session).slice(-5)).toEqual([
      'call call_2',
      'result call_1 failed TOOL_OUTCOME_UNKNOWN',
      'result call_2 failed TOOL_OUTCOME_UNKNOWN',
      'end 1.1',
      'end 1 error FIRST',
    ])
  })

  it('a refused context is not taken for one that stands in the log: the next result that carries it brings it in', async () => {
    const shared = note('shared')
    await using harness = await createHarness({
      script: [calls('look'), calls('look'), { text: 'seen' }],
      tools: [tool('look', (_args, exec) => (exec.deferContext(shared), 'ok'))],
    })
    veto(harness.ctx, (event) => event.type === 'user/message' && event.data.id === shared.id)
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent.session).slice(-3)).toEqual(['result call_1: ok', 'end 1.1', 'end 1 error VETO'])
    await harness.say(agent, 'again')
    expect(story(agent.session).slice(-6)).toEqual(
      ['result call_2: ok', 'user shared', 'end 2.1', 'step 2.2', 'model seen', 'end 2.2', 'end 2 completed'].slice(-6),
    )
  })

  it('nor is a message that was refused when it was to enter', async () => {
    const sent = userMessage('go')
    await using harness = await createHarness({
      script: [calls('look'), { text: 'seen' }],
      tools: [tool('look', (_args, exec) => (exec.deferContext(sent), 'ok'))],
    })
    veto(harness.ctx, ({ type }) => type === 'user/message')
    const agent = harness.agent()
    agent.followup(sent)
    await agent.whenIdle()
    expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 error VETO'])
    await harness.say(agent, 'again')
    expect(story(agent.session).filter((line) => line.startsWith('user'))).toEqual(['user again', 'user go'])
  })

  it.each(['step/end', 'turn/end'] as const)('a refused %s is logged all the same, and the next turn runs', async (type) => {
    await using harness = await createHarness({ script: [{ text: 'one' }, { text: 'two' }] })
    veto(harness.ctx, (event) => event.type === type)
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 error VETO'])
    await harness.say(agent, 'again')
    expect(story(agent.session).slice(-2)).toEqual(['end 2.1', 'end 2 completed'])
  })
})
