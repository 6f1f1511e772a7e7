import { describe, expect, it } from 'vitest'
import type { RequestErrorDecision } from '@loopguard/agent-loop'
import { type FinishReason, LlmError } from '@loopguard/llm'
import { createHarness, fakeClock, gate, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { Streams } from './support/streams.ts'
import { tool } from './support/tools.ts'

const fails = (code: string, retryAfterMs?: number) => () => {
  throw new LlmError(`it is ${code}`, code, retryAfterMs === undefined ? {} : { retryAfterMs })
}

describe('agent/request-error', () => {
  it('a retry asks again within the same step; the failed attempts leave no message', async () => {
    await using harness = await createHarness({ script: [fails('BUSY'), fails('BUSY'), { text: 'at last' }] })
    const agent = harness.agent()
    const heard: unknown[] = []
    harness.ctx.on('agent/request-error', async ({ turn, step, failure }, next) => {
      heard.push([turn, step, failure.code])
      return (await next()) ?? { kind: 'retry' }
    })
    await harness.say(agent, 'hi')
    expect(heard).toEqual([
      [1, 1, 'BUSY'],
      [1, 1, 'BUSY'],
    ])
    expect(story(agent.session, { headers: true })).toEqual([
      'queued next-turn: hi',
      'turn 1',
      'step 1.1',
      'user hi',
      'claimed: hi',
      'header scripted',
      'failed 1.1 attempt 1: BUSY',
      'failed 1.1 attempt 2: BUSY',
      'model at last',
      'end 1.1',
      'end 1 completed',
    ])
    expect(harness.model.requests.map(({ messages }) => messages)).toEqual([0, 1, 2].map(() => agent.session.deriveMessages().slice(0, 1)))
  })

  it('a stream that failed after text and a tool call is asked anew: the call runs once', async () => {
    let runs = 0
    const adapter = new Streams(
      async function* () {
        yield { type: 'block-start', index: 0, blockType: 'tool-call' }
        yield { type: 'block-end', index: 0, block: { type: 'tool-call', id: 'a' as never, name: 'look', arguments: '{}' } }
        throw new LlmError('connection lost', 'LOST')
      },
      async function* () {
        yield { type: 'block-start', index: 0, blockType: 'tool-call' }
        yield { type: 'block-end', index: 0, block: { type: 'tool-call', id: 'b' as never, name: 'look', arguments: '{}' } }
        yield { type: 'finish', reason: { kind: 'tool-calls' } }
      },
      async function* () {
        yield { type: 'finish', reason: { kind: 'stop' } }
      },
    )
    await using harness = await createHarness({ adapter, tools: [tool('look', () => `run ${++runs}`)] })
    const agent = harness.agent()
    harness.ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(5)).toEqual([
      'failed 1.1 attempt 1: LOST',
      'model [b look({})]',
      'call b',
      'result b: run 1',
      'end 1.1',
      'step 1.2',
      'model (nothing)',
      'end 1.2',
      'end 1 completed',
    ])
  })

  it('what is changed before a retry is what the next attempt says, and the log says so first', async () => {
    await using harness = await createHarness({ script: [fails('TOO_LONG'), { text: 'ok' }], tools: [tool('big')] })
    const agent = harness.agent()
    const small = harness.ctx.tools.register(tool('small'))
    harness.ctx.on('agent/request-error', async () => {
      small()
      return { kind: 'retry' }
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session, { headers: true }).slice(5)).toEqual([
      'header scripted big small',
      'failed 1.1 attempt 1: TOO_LONG',
      'header scripted big',
      'model ok',
      'end 1.1',
      'end 1 completed',
    ])
  })

  it('an attempt is logged before anybody is asked about it, with its failure and what it had said', async () => {
    const failure = { status: 503, retryAfterMs: 20, requestId: 'r-1', retryable: true }
    const adapter = new Streams(
      async function* () {
        yield { type: 'block-start', index: 0, blockType: 'reasoning' }
        yield { type: 'reasoning-delta', index: 0, text: 'hm' }
        yield { type: 'block-start', index: 1, blockType: 'text' }
        yield { type: 'text-delta', index: 1, text: 'I would ' }
        yield { type: 'text-delta', index: 1, text: 'say' }
        throw new LlmError('connection lost', 'LOST', failure)
      },
      async function* () {
        yield { type: 'finish', reason: { kind: 'stop' } }
      },
    )
    await using harness = await createHarness({ adapter })
    const agent = harness.agent()
    let logged: unknown
    harness.ctx.on('agent/request-error', async () => {
      logged = agent.session.events.at(-1)
      return { kind: 'retry' }
    })
    await harness.say(agent, 'hi')
    expect(logged).toMatchObject({
      type: 'request/failed',
      data: { turn: 1, step: 1, attempt: 1, failure: { message: 'connection lost', code: 'LOST', ...failure }, text: 'I would say' },
    })
  })

  it.each([
    ['is cut at 2,000 characters', 'x'.repeat(3_000), 2_000],
    ['is not cut inside of a character', `${'x'.repeat(1_999)}\u{1F600}${'x'.repeat(9)}`, 1_999],
    ['is whole when it is no longer', 'x'.repeat(2_000), 2_000],
  ])('what a failed attempt had said %s', async (_what, words, length) => {
    const adapter = new Streams(async function* () {
      yield { type: 'block-start', index: 0, blockType: 'text' }
      yield { type: 'text-delta', index: 0, text: words }
      throw new LlmError('connection lost', 'LOST')
    })
    await using harness = await createHarness({ adapter })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(agent.session.events.find(({ type }) => type === 'request/failed')?.data).toHaveProperty('text', 'x'.repeat(length))
  })

  it('attempts are counted anew in each step', async () => {
    const looks = { calls: [{ name: 'look', arguments: {} }] }
    await using harness = await createHarness({
      script: [fails('BUSY'), fails('BUSY'), looks, fails('BUSY'), { text: 'ok' }],
      tools: [tool('look')],
    })
    const agent = harness.agent()
    harness.ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    await harness.say(agent, 'hi')
    expect(story(agent.session).filter((line) => line.startsWith('failed'))).toEqual([
      'failed 1.1 attempt 1: BUSY',
      'failed 1.1 attempt 2: BUSY',
      'failed 1.2 attempt 1: BUSY',
    ])
  })

  it.each<[string, unknown, string]>([
    ['a kind that nobody knows', { kind: 'tired' }, 'unknown finish kind "tired"'],
    ['an error without a failure', { kind: 'error' }, 'a failure must have a message and a code, got undefined'],
    ['a failure without a code', { kind: 'error', failure: { message: 'no' } }, 'a failure must have a message and a code'],
    [
      'a failure that no log could hold',
      { kind: 'error', failure: { message: 'no', code: 'NO', status: Number.NaN } },
      'failure.status is NaN',
    ],
  ])('a finish with %s is a failed request, which may be retried', async (_what, reason, why) => {
    const adapter = new Streams(
      async function* () {
        yield { type: 'finish', reason: reason as FinishReason }
      },
      async function* () {
        yield { type: 'finish', reason: { kind: 'stop' } }
      },
    )
    await using harness = await createHarness({ adapter })
    const agent = harness.agent()
    const heard: string[] = []
    harness.ctx.on('agent/request-error', async ({ failure: { code, message } }) => {
      heard.push(`${code} ${message}`)
      return { kind: 'retry' }
    })
    await harness.say(agent, 'hi')
    expect(heard).toEqual([expect.stringContaining(`BAD_STREAM malformed model stream: ${why}`)])
    expect(story(agent.session).at(-1)).toBe('end 1 completed')
  })

  it('backs off as long as the listener wants', async () => {
    using clock = fakeClock()
    await using harness = await createHarness({ script: [fails('BUSY', 5_000), { text: 'ok' }] })
    const agent = harness.agent()
    const asked = gate()
    harness.ctx.on('agent/request-error', async ({ failure }) => {
      const waited = new Promise((resolve) => setTimeout(resolve, failure.retryAfterMs))
      asked.open()
      await waited
      return { kind: 'retry' }
    })
    agent.followup(userMessage('hi'))
    await asked.opened
    await clock.advance(4_999)
    expect(harness.model.count).toBe(1)
    await clock.advance(1)
    await agent.whenIdle()
    expect(harness.model.count).toBe(2)
    expect(story(agent.session).at(-1)).toBe('end 1 completed')
  })

  it.each([{ kind: 'retry' } as const, undefined])(
    'a cancel during the back-off ends the turn as aborted, though the listener answers %j',
    async (answer) => {
      const asked = gate()
      const more = gate()
      await using harness = await createHarness({ script: [fails('BUSY'), { text: 'never' }] })
      const agent = harness.agent()
      harness.ctx.on('agent/request-error', async () => {
        asked.open()
        await more.opened
        return answer
      })
      agent.followup(userMessage('hi'))
      await asked.opened
      agent.cancel()
      more.open()
      await agent.whenIdle()
      expect(story(agent.session).slice(-3)).toEqual(['failed 1.1 attempt 1: BUSY', 'end 1.1', 'end 1 aborted by user'])
      expect(harness.model.count).toBe(1)
      expect(harness.log).toEqual([])
    },
  )

  it('a back-off that follows the signal ends at once', async () => {
    const asked = gate()
    await using harness = await createHarness({ script: [fails('BUSY')] })
    const agent = harness.agent()
    harness.ctx.on('agent/request-error', async ({ signal }) => {
      asked.open()
      await gate().wait(signal)
      return { kind: 'retry' }
    })
    agent.followup(userMessage('hi'))
    await asked.opened
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect(story(agent.session).at(-1)).toBe('end 1 aborted by user')
  })

  it('is not asked about an answer that was cancelled', async () => {
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
    let heard = 0
    harness.ctx.on('agent/request-error', async () => {
      heard++
      return undefined
    })
    agent.followup(userMessage('hi'))
    await asked.opened
    agent.cancel()
    await agent.whenIdle()
    expect(heard).toBe(0)
  })

  it('a listener that throws ends the turn with its error', async () => {
    await using harness = await createHarness({ script: [fails('BUSY')] })
    const agent = harness.agent()
    harness.ctx.on('agent/request-error', () => Promise.reject(Object.assign(new Error('gave up'), { code: 'GAVE_UP' })))
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 error GAVE_UP'])
  })

  it.each([null, 0, true, 'retry', { kind: 'wait' }, {}])(
    '%j is no answer: the turn ends with an error that names the listener',
    async (answer) => {
      await using harness = await createHarness({
        script: [fails('BUSY')],
        plugins: [
          { name: 'retrier', apply: (ctx) => ctx.on('agent/request-error', () => Promise.resolve(answer as RequestErrorDecision)) },
        ],
      })
      const agent = harness.agent()
      await harness.say(agent, 'hi')
      expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 error BAD_ANSWER'])
      expect(JSON.stringify(agent.session.events.at(-1)?.data)).toContain('retrier')
    },
  )
})
