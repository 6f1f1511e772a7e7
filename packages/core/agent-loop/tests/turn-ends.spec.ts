import { describe, expect, it } from 'vitest'
import { LlmError } from '@loopguard/llm'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

/** What a turn logs before the model is asked. */
const opening = (text: string, turn = 1) => [`turn ${turn}`, `step ${turn}.1`, `user ${text}`, `claimed: ${text}`]

describe('completed', () => {
  it('an empty answer ends the turn, and the model does not see it again', async () => {
    await using harness = await createHarness({ script: [{}, { text: 'ok' }] })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual(['queued next-turn: hi', ...opening('hi'), 'model (nothing)', 'end 1.1', 'end 1 completed'])
    await harness.say(agent, 'well?')
    expect(harness.model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'user'])
  })

  it('a concluding result ends the turn without another request', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'finish', arguments: {} }] }],
      tools: [tool('finish', () => 'bye', { concludesTurn: true })],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual([
      'queued next-turn: hi',
      ...opening('hi'),
      'model [call_1 finish({})]',
      'call call_1',
      'result call_1: bye',
      'end 1.1',
      'end 1 completed',
    ])
  })

  it('a failure of a concluding tool concludes nothing', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'finish', arguments: {} }] }, { text: 'sorry' }],
      tools: [tool('finish', () => Promise.reject(new Error('not yet')), { concludesTurn: true })],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-6)).toEqual([
      'result call_1 failed: Error: not yet',
      'end 1.1',
      'step 1.2',
      'model sorry',
      'end 1.2',
      'end 1 completed',
    ])
  })

  it('all calls of a batch run and are answered though the first has concluded the turn', async () => {
    await using harness = await createHarness({
      script: [{ calls: ['finish', 'look'].map((name) => ({ name, arguments: {} })) }],
      tools: [tool('finish', (_args, exec) => (exec.concludeTurn(), 'bye')), tool('look')],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-6)).toEqual([
      'call call_1',
      'result call_1: bye',
      'call call_2',
      'result call_2: ok',
      'end 1.1',
      'end 1 completed',
    ])
  })

  it.each(['steer', 'inject'] as const)('what %s queued while the concluding tool ran gets one more step', async (door) => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'finish', arguments: {} }] }, { text: 'one more thing' }],
      tools: [
        tool(
          'finish',
          () => {
            agent[door](userMessage('wait'))
            return 'bye'
          },
          { concludesTurn: true },
        ),
      ],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual([
      'queued next-turn: hi',
      ...opening('hi'),
      'model [call_1 finish({})]',
      'call call_1',
      'queued next-step: wait',
      'result call_1: bye',
      'end 1.1',
      'step 1.2',
      'user wait',
      'claimed: wait',
      'model one more thing',
      'end 1.2',
      'end 1 completed',
    ])
  })
})

describe('max-tokens', () => {
  it('a cut message keeps its text, loses its tool calls and ends the turn', async () => {
    await using harness = await createHarness({
      script: [{ text: 'I will', calls: [{ name: 'look', arguments: {} }], finish: 'max-tokens' }],
      tools: [tool('look')],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual(['queued next-turn: hi', ...opening('hi'), 'model I will', 'end 1.1', 'end 1 max-tokens'])
  })

  it('is remembered: steering goes on, the model sees its results, and only the reason of the end tells', async () => {
    await using harness = await createHarness({
      script: [{ text: 'cut', finish: 'max-tokens' }, { calls: [{ name: 'look', arguments: {} }] }, { text: 'done' }],
      tools: [tool('look')],
    })
    const agent = harness.agent()
    const stopped: number[] = []
    harness.ctx.on('agent/turn-stopping', ({ turn }) => {
      stopped.push(turn)
      if (stopped.length === 1) agent.steer(userMessage('go on'))
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual([
      'queued next-turn: hi',
      ...opening('hi'),
      'model cut',
      'end 1.1',
      'queued next-step: go on',
      'step 1.2',
      'user go on',
      'claimed: go on',
      'model [call_1 look({})]',
      'call call_1',
      'result call_1: ok',
      'end 1.2',
      'step 1.3',
      'model done',
      'end 1.3',
      'end 1 max-tokens',
    ])
    expect(stopped).toEqual([1, 1])
  })

  it('does not carry over to the next turn', async () => {
    await using harness = await createHarness({ script: [{ text: 'cut', finish: 'max-tokens' }, { text: 'whole' }] })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    await harness.say(agent, 'again')
    expect(story(agent.session).filter((line) => /^end \d /.test(line))).toEqual(['end 1 max-tokens', 'end 2 completed'])
  })
})

describe('blocked', () => {
  it('a rejected pre-step ends the turn, and what is queued waits for the next wake', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: Infinity }] })
    const agent = harness.agent()
    let rejects = true
    harness.ctx.on('agent/pre-step', async (_event, next) => (rejects ? { kind: 'reject' } : next()))
    agent.inject(userMessage('note'))
    agent.followup(userMessage('one'))
    agent.followup(userMessage('two'))
    await agent.whenIdle()
    rejects = false
    const before = agent.session.events.length
    expect(story(agent.session)).toEqual([
      'queued next-step: note',
      'queued next-turn: one',
      'queued next-turn: two',
      'turn 1',
      'claimed: note, one',
      'end 1 blocked',
    ])
    agent.followup(userMessage('three'))
    await agent.whenIdle()
    expect(
      story(agent.session, { from: before }).filter(
        (line) => line.startsWith('user') || line.startsWith('end 2 ') || line.startsWith('end 3 '),
      ),
    ).toEqual(['user two', 'end 2 completed', 'user three', 'end 3 completed'])
  })
})

it.each(['followup', 'steer'] as const)(
  'a message that was sent by %s before the step was rejected starts no turn, and waits',
  async (door) => {
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async ({ turn }) => {
      if (turn === 1) agent[door](userMessage('more'))
      return { kind: 'reject' }
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-2)).toEqual(['claimed: hi', 'end 1 blocked'])
    expect({ status: agent.status, waits: agent.inbox.hasPending }).toEqual({ status: 'idle', waits: true })
  },
)

describe('aborted', () => {
  it('carries the whole cause of the cancel', async () => {
    const asked = gate()
    await using harness = await createHarness({
      script: [
        () => {
          asked.open()
          return 'hang'
        },
      ],
    })
    const agent = harness.agent()
    agent.followup(userMessage('hi'))
    await asked.opened
    agent.cancel({ kind: 'budget', spent: 12 } as { kind: string })
    await agent.whenIdle()
    expect(agent.session.events.at(-1)?.data).toEqual({ turn: 1, reason: { kind: 'aborted', reason: { kind: 'budget', spent: 12 } } })
  })
})

describe('error', () => {
  it('a failed request ends the turn with the failure as the provider gave it, and keeps what is queued', async () => {
    await using harness = await createHarness({
      script: [
        () => {
          throw new LlmError('slow down', 'RATE_LIMITED', { status: 429, retryAfterMs: 1000, requestId: 'r1' })
        },
        { text: 'ok', repeat: Infinity },
      ],
    })
    const agent = harness.agent()
    const errors: unknown[] = []
    harness.ctx.on('agent/error', ({ agent: failed, ...event }) => void errors.push([failed === agent, event]))
    agent.followup(userMessage('hi'))
    agent.followup(userMessage('more'))
    await agent.whenIdle()
    const failure = { message: 'slow down', code: 'RATE_LIMITED', status: 429, retryAfterMs: 1000, requestId: 'r1' }
    expect(story(agent.session)).toEqual([
      'queued next-turn: hi',
      'queued next-turn: more',
      ...opening('hi'),
      'failed 1.1 attempt 1: RATE_LIMITED',
      'end 1.1',
      'end 1 error RATE_LIMITED',
    ])
    expect(agent.session.events.at(-1)?.data).toEqual({ turn: 1, reason: { kind: 'error', error: failure } })
    expect(errors).toEqual([[true, { turn: 1, step: 1, error: failure }]])
    expect({ status: agent.status, waits: agent.inbox.nextTurn.length }).toEqual({ status: 'idle', waits: 1 })

    await harness.say(agent, 'again')
    expect(story(agent.session).filter((line) => /^(user|end \d )/.test(line))).toEqual([
      'user hi',
      'end 1 error RATE_LIMITED',
      'user more',
      'end 2 completed',
      'user again',
      'end 3 completed',
    ])
  })

  it('a provider that nobody serves is NO_ADAPTER', async () => {
    await using harness = await createHarness()
    const agent = harness.agent({ provider: 'nobody' })
    await harness.say(agent, 'hi')
    expect(story(agent.session).at(-1)).toBe('end 1 error NO_ADAPTER')
  })

  it('a message steered before the error waits for the next wake', async () => {
    await using harness = await createHarness({
      script: [
        () => {
          agent.steer(userMessage('before'))
          throw new LlmError('broken', 'BROKEN')
        },
        { text: 'ok' },
      ],
    })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-4)).toEqual([
      'queued next-step: before',
      'failed 1.1 attempt 1: BROKEN',
      'end 1.1',
      'end 1 error BROKEN',
    ])
    await harness.say(agent, 'again')
    expect(story(agent.session).slice(-8)).toEqual([
      'turn 2',
      'step 2.1',
      'user before',
      'user again',
      'claimed: before, again',
      'model ok',
      'end 2.1',
      'end 2 completed',
    ])
  })

  it.each(['agent/error', 'turn/end'])('a message that is sent on %s wakes the agent', async (on) => {
    await using harness = await createHarness({
      script: [
        () => {
          throw new LlmError('broken', 'BROKEN')
        },
        { text: 'recovered' },
      ],
    })
    const agent = harness.agent()
    let left = 1
    const send = (event: string) => {
      if (event === on && left-- > 0) agent.steer(userMessage('try again'))
    }
    harness.ctx.on('agent/error', () => send('agent/error'))
    harness.ctx.on('session/event', (_session, { type }) => send(type))
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-7)).toEqual([
      'turn 2',
      'step 2.1',
      'user try again',
      'claimed: try again',
      'model recovered',
      'end 2.1',
      'end 2 completed',
    ])
  })

  it('an answer of the model that is no answer is a failed request', async () => {
    const call = (block: object) => [
      { type: 'block-start', index: 0, blockType: 'tool-call' },
      { type: 'block-end', index: 0, block },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ]
    await using harness = await createHarness({ tools: [tool('look')] })
    for (const block of [
      { type: 'tool-call', id: 'a', name: 5, arguments: '{}' },
      { type: 'tool-call', name: 'look', arguments: '{}' },
      { type: 'tool-call', id: 'a', name: 'look', arguments: {} },
    ]) {
      harness.model.push(call(block) as never)
      const agent = harness.agent()
      await harness.say(agent, 'hi')
      expect(story(agent.session)).toEqual([
        'queued next-turn: hi',
        ...opening('hi'),
        'failed 1.1 attempt 1: BAD_STREAM',
        'end 1.1',
        'end 1 error BAD_STREAM',
      ])
    }
  })
})

describe('several turns', () => {
  it('numbers turns and steps from 1, each turn with steps of its own', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'a' }, { text: 'b' }],
      tools: [tool('look')],
    })
    const agent = harness.agent()
    await harness.say(agent, 'one')
    await harness.say(agent, 'two')
    expect(story(agent.session).filter((line) => /^(turn|step)/.test(line))).toEqual([
      'turn 1',
      'step 1.1',
      'step 1.2',
      'turn 2',
      'step 2.1',
    ])
  })
})
