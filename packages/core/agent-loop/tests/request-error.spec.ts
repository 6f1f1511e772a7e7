import { describe, expect, it } from 'vitest'
import type { RequestErrorDecision } from '@loopguard/agent-loop'
import { LlmError } from '@loopguard/llm'
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
      'header scripted big',
      'model ok',
      'end 1.1',
      'end 1 completed',
    ])
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
      expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 aborted by user'])
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
