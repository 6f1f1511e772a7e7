import { describe, expect, it } from 'vitest'
import type { Agent } from '@loopguard/agent-loop'
import type { StreamChunk } from '@loopguard/llm'
import { createHarness, type FakeClock, fakeClock, gate, type Harness, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { Streams } from './support/streams.ts'
import { gatedTool, tool } from './support/tools.ts'

/** Of `agent/error`, in order: the code and the message. */
function errorsOf({ ctx }: Harness): string[] {
  const errors: string[] = []
  ctx.on('agent/error', ({ error }) => void errors.push(`${(error as { code?: string }).code}: ${(error as Error).message}`))
  return errors
}

/** Stops the clock for `work`, and starts it again: what waits in real time goes on. */
async function stopped(work: (clock: FakeClock) => Promise<void>): Promise<void> {
  using clock = fakeClock()
  await work(clock)
  expect(clock.pending).toBe(0)
}

const CALL = { calls: [{ name: 'deaf', arguments: {} }] }
const GAVE_UP = 'GAVE_UP: gave up on the tool "deaf" (call "call_1") 1000 ms after the cancel: it may still be working'

/** Sends a message, and waits until the tool has begun. */
async function begin(agent: Agent, deaf: ReturnType<typeof gatedTool>): Promise<void> {
  agent.followup(userMessage('go'))
  await deaf.begun('call_1').opened
}

describe('a tool that does not stop', () => {
  it('is waited for as long as the canceller says, from the cancel on; then the turn ends without it', async () => {
    const deaf = gatedTool('deaf')
    await using harness = await createHarness({ script: [CALL, { text: 'hello again' }], tools: [deaf.definition] })
    const errors = errorsOf(harness)
    const agent = harness.agent()
    await stopped(async (clock) => {
      await begin(agent, deaf)
      await clock.advance(5000)
      agent.cancel(undefined, { abandonAfterMs: 1000 })
      await clock.advance(999)
      expect({ status: agent.status, errors }).toEqual({ status: 'running', errors: [] })
      await clock.advance(1)
      await agent.whenIdle()
      expect(errors).toEqual([GAVE_UP])
      expect(story(agent.session).slice(5)).toEqual([
        'model [call_1 deaf({})]',
        'call call_1',
        'result call_1 failed TOOL_OUTCOME_UNKNOWN',
        'end 1.1',
        'end 1 aborted by user',
      ])
      // What it answers after all changes nothing, and is told.
      const { length } = agent.session.events
      await clock.advance(500)
      deaf.release('call_1').open()
      await clock.advance(0)
      expect(agent.session.events).toHaveLength(length)
      expect(errors.slice(1)).toEqual([
        'LATE_ANSWER: the tool "deaf" (call "call_1"), given up on, ended 1500 ms after the cancel: its answer was dropped',
      ])
    })
    expect(harness.log.map(({ text }) => text.split('\n')[0])).toEqual(
      errors.map((error) => expect.stringContaining(error.replace(/^\w+: /, ''))),
    )
    await harness.say(agent, 'still there?')
    expect(story(agent.session).at(-1)).toBe('end 2 completed')
  })

  it('is waited for for ever when nobody says otherwise, and leaves no timer', async () => {
    const deaf = gatedTool('deaf')
    await using harness = await createHarness({ script: [CALL], tools: [deaf.definition] })
    const agent = harness.agent()
    await stopped(async (clock) => {
      await begin(agent, deaf)
      agent.cancel()
      agent.cancel(undefined, { abandonAfterMs: Infinity })
      expect(clock.pending).toBe(0)
      await clock.advance(1e9)
      expect(agent.status).toBe('running')
      deaf.release('call_1').open()
      await agent.whenIdle()
    })
    expect(story(agent.session)).toContain('result call_1 failed ABORTED')
  })

  it('that stops in time is not given up on, and no timer is left', async () => {
    const deaf = gatedTool('deaf')
    await using harness = await createHarness({ script: [CALL], tools: [deaf.definition] })
    const errors = errorsOf(harness)
    const agent = harness.agent()
    await stopped(async (clock) => {
      await begin(agent, deaf)
      agent.cancel(undefined, { abandonAfterMs: 1000 })
      deaf.release('call_1').open()
      await agent.whenIdle()
      expect(clock.pending).toBe(0)
      await clock.advance(2000)
    })
    expect(errors).toEqual([])
  })

  it('is given up on by the configuration, which the canceller overrides both ways', async () => {
    for (const [abandonAfterMs, waited] of [
      [undefined, 1000],
      [10, 10],
      [5000, 5000],
    ] as const) {
      const deaf = gatedTool('deaf')
      await using harness = await createHarness({ script: [CALL], tools: [deaf.definition], loop: { abandonAfterMs: 1000 } })
      const agent = harness.agent()
      await stopped(async (clock) => {
        await begin(agent, deaf)
        agent.cancel(undefined, abandonAfterMs === undefined ? {} : { abandonAfterMs })
        await clock.advance(waited - 1)
        expect(agent.status).toBe('running')
        await clock.advance(1)
        expect(agent.status).toBe('idle')
        deaf.release('call_1').open()
        await clock.advance(0)
      })
    }
  })

  it('may be bounded by a later cancel; the bound that is over first counts', async () => {
    const deaf = gatedTool('deaf')
    await using harness = await createHarness({ script: [CALL], tools: [deaf.definition] })
    const errors = errorsOf(harness)
    const agent = harness.agent()
    await stopped(async (clock) => {
      await begin(agent, deaf)
      agent.cancel()
      await clock.advance(5000)
      agent.cancel(undefined, { abandonAfterMs: 1000 })
      agent.cancel({ kind: 'late' }, { abandonAfterMs: 9000 })
      expect(clock.pending).toBe(1)
      await clock.advance(1000)
      expect(agent.status).toBe('idle')
      deaf.release('call_1').open()
      await clock.advance(0)
    })
    expect(errors[0]).toBe(GAVE_UP)
    expect(story(agent.session).at(-1)).toBe('end 1 aborted by user')
  })

  it('holds up no disposal that is bounded', async () => {
    const deaf = gatedTool('deaf')
    await using harness = await createHarness({ script: [CALL], tools: [deaf.definition] })
    const errors = errorsOf(harness)
    const agent = harness.agent()
    await stopped(async (clock) => {
      await begin(agent, deaf)
      void agent.dispose()
      await clock.advance(5000)
      expect(agent.status).toBe('running')
      const gone = agent.dispose({ abandonAfterMs: 1000 })
      await clock.advance(1000)
      await gone
      expect(harness.ctx.agentLoop.list()).toEqual([])
      deaf.release('call_1').open()
      await clock.advance(0)
    })
    expect(errors.map((error) => error.split(':')[0])).toEqual(['GAVE_UP', 'LATE_ANSWER'])
    expect(story(agent.session).at(-1)).toBe('end 1 aborted by disposed')
  })

  it('beside others: each that is deaf is given up on, the results stand in the order of the model', async () => {
    const deaf = gatedTool('deaf', { isConcurrencySafe: () => true })
    const ready = tool('ready', () => 'done', { isConcurrencySafe: () => true })
    const calls = ['ready', 'deaf', 'deaf', 'after'].map((name) => ({ name, arguments: {} }))
    await using harness = await createHarness({ script: [{ calls }], tools: [deaf.definition, ready, tool('after')] })
    const errors = errorsOf(harness)
    const agent = harness.agent()
    await stopped(async (clock) => {
      agent.followup(userMessage('go'))
      await Promise.all([deaf.begun('call_2').opened, deaf.begun('call_3').opened])
      await clock.advance(0)
      agent.cancel(undefined, { abandonAfterMs: 1000 })
      await clock.advance(1000)
      await agent.whenIdle()
      for (const id of ['call_2', 'call_3']) deaf.release(id).open()
      await clock.advance(0)
    })
    expect(story(agent.session).filter((line) => line.startsWith('result'))).toEqual([
      'result call_1: done',
      'result call_2 failed TOOL_OUTCOME_UNKNOWN',
      'result call_3 failed TOOL_OUTCOME_UNKNOWN',
      'result call_4 failed ABORTED_BEFORE_DISPATCH',
    ])
    expect(errors.filter((error) => error.startsWith('GAVE_UP'))).toHaveLength(2)
  })
})

describe('a model that does not stop', () => {
  it('is given up on likewise: its words so far are kept, and what it says later is not', async () => {
    const go = gate()
    const adapter = new Streams(async function* (): AsyncGenerator<StreamChunk> {
      yield { type: 'block-start', index: 0, blockType: 'text' }
      yield { type: 'text-delta', index: 0, text: 'so far' }
      await go.opened
      yield { type: 'text-delta', index: 0, text: ' and further' }
      yield { type: 'finish', reason: { kind: 'stop' } }
    })
    await using harness = await createHarness({ adapter })
    const errors = errorsOf(harness)
    const agent = harness.agent()
    await stopped(async (clock) => {
      agent.followup(userMessage('go'))
      await clock.advance(0)
      agent.cancel(undefined, { abandonAfterMs: 1000 })
      await clock.advance(1000)
      await agent.whenIdle()
      expect(story(agent.session).slice(5)).toEqual(['model so far (interrupted)', 'end 1.1', 'end 1 aborted by user'])
      go.open()
      await clock.advance(0)
    })
    expect(errors).toEqual([
      'GAVE_UP: gave up on the model of provider "scripted" 1000 ms after the cancel: it may still be working',
      'LATE_ANSWER: the model of provider "scripted", given up on, ended 1000 ms after the cancel: its answer was dropped',
    ])
  })
})

describe('a listener that does not settle', () => {
  const never = (): Promise<never> => new Promise(() => {})

  it.each([
    ['agent/pre-step', [{ text: 'hello' }]],
    ['agent/request-error', []],
    ['agent/turn-stopping', [{ text: 'hello' }]],
  ] as const)('%s: is given up on likewise', async (event, script) => {
    await using harness = await createHarness({ script })
    const errors = errorsOf(harness)
    const asked = gate()
    harness.ctx.on(event, () => (asked.open(), never()))
    let later = 0
    harness.ctx.on('agent/turn-stopping', () => void later++)
    const agent = harness.agent()
    await stopped(async (clock) => {
      agent.followup(userMessage('go'))
      await asked.opened
      agent.cancel(undefined, { abandonAfterMs: 1000 })
      await clock.advance(1000)
      await agent.whenIdle()
    })
    expect(errors).toEqual([`GAVE_UP: gave up on a listener of ${event} 1000 ms after the cancel: it may still be working`])
    expect(story(agent.session).at(-1)).toBe('end 1 aborted by user')
    expect(later).toBe(0)
  })
})

describe('a bound that is none', () => {
  it.each([0, -1, Number.NaN, 2 ** 31, '5', null])('%s is refused before anything is cancelled', async (abandonAfterMs) => {
    const deaf = gatedTool('deaf')
    await using harness = await createHarness({ script: [CALL, { text: 'done' }], tools: [deaf.definition] })
    const agent = harness.agent()
    await begin(agent, deaf)
    const refusal = expect.objectContaining({ code: 'BAD_ABANDON_AFTER', message: expect.stringContaining('`abandonAfterMs` must be') })
    expect(() => agent.cancel(undefined, { abandonAfterMs: abandonAfterMs as number })).toThrow(refusal)
    expect(() => agent.dispose({ abandonAfterMs: abandonAfterMs as number })).toThrow(refusal)
    deaf.release('call_1').open()
    await agent.whenIdle()
    expect(story(agent.session).at(-1)).toBe('end 1 completed')
  })
})
