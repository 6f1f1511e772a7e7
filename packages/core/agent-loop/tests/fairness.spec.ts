import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Agent } from '@loopguard/agent-loop'
import { LlmError } from '@loopguard/llm'
import { createHarness, fakeClock, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

const real = { setTimeout: globalThis.setTimeout, now: performance.now.bind(performance) }

/** So often each of these loops would go round by itself. */
const ROUNDS = 50

/** What the first round sets going. */
const atFirst: (() => void)[] = []

/** Keeps the event loop for longer than anybody may: what lies between two rounds of these loops, without I/O. */
function busy(): void {
  for (const start of atFirst.splice(0)) start()
  for (const until = real.now() + 5; real.now() < until;);
}

const again = () => tool('again', () => (busy(), 'nothing new'))
const CALLS = [{ calls: [{ name: 'again', arguments: {} }], repeat: ROUNDS }, { text: 'done' }]

/** Runs a turn that a timer cancels, soon after the first round. How it ended: `aborted` when the timer was served in time. */
async function cancelled(agent: Agent): Promise<string | undefined> {
  atFirst.push(() => void real.setTimeout(() => agent.cancel(), 1))
  agent.followup(userMessage('go'))
  await agent.whenIdle()
  return story(agent.session).at(-1)
}

afterEach(() => void vi.useRealTimers())

describe('a loop without I/O lets a timer cancel it', () => {
  it('between steps that make calls', async () => {
    await using harness = await createHarness({ script: CALLS, tools: [again()] })
    expect(await cancelled(harness.agent())).toBe('end 1 aborted by user')
  })

  it('between steps that make none, and the model is not asked once more', async () => {
    const asked: boolean[] = []
    const says = ({ signal }: { readonly signal: AbortSignal }): { text: string } => (asked.push(signal.aborted), { text: 'done' })
    await using harness = await createHarness({ script: Array.from({ length: ROUNDS + 1 }, () => says) })
    let steered = 0
    harness.ctx.on('agent/turn-stopping', ({ agent }) => {
      busy()
      if (++steered <= ROUNDS) agent.steer(userMessage('go on'))
    })
    expect(await cancelled(harness.agent())).toBe('end 1 aborted by user')
    expect(asked).not.toContain(true)
  })

  it('between the attempts of a listener that retries for ever, and the model is not asked once more', async () => {
    const asked: boolean[] = []
    const fails = ({ signal }: { readonly signal: AbortSignal }): never => {
      asked.push(signal.aborted)
      throw new LlmError('busy', 'BUSY')
    }
    await using harness = await createHarness({ script: [...Array.from({ length: ROUNDS }, () => fails), { text: 'done' }] })
    harness.ctx.on('agent/request-error', async () => (busy(), { kind: 'retry' }))
    expect(await cancelled(harness.agent())).toBe('end 1 aborted by user')
    expect(asked).not.toContain(true)
  })

  it('between the calls of one message, also those that are denied', async () => {
    const calls = Array.from({ length: ROUNDS }, () => ({ name: 'again', arguments: {} }))
    await using harness = await createHarness({ script: [{ calls }, { text: 'done' }], tools: [again()] })
    harness.ctx.tools.guard(() => (busy(), 'no'))
    const agent = harness.agent()
    expect(await cancelled(agent)).toBe('end 1 aborted by user')
    const results = story(agent.session).filter((line) => line.startsWith('result'))
    expect(results).toHaveLength(ROUNDS)
    expect(results.at(-1)).toBe(`result call_${ROUNDS} failed ABORTED_BEFORE_DISPATCH`)
  })

  it.each([
    ['the fake timers of a test runner', () => void vi.useFakeTimers()],
    ['the fake clock of the testkit', () => fakeClock()],
  ])('under %s, too', async (_name, install) => {
    await using harness = await createHarness({ script: CALLS, tools: [again()] })
    const agent = harness.agent()
    const clock = install()
    try {
      expect(await cancelled(agent)).toBe('end 1 aborted by user')
    } finally {
      clock?.restore()
    }
  })
})

describe('beside a loop without I/O', () => {
  it('the timer of another agent ends its call, and that agent goes on', async () => {
    await using harness = await createHarness({
      script: [
        { calls: [{ name: 'wait', arguments: {} }] },
        { calls: [{ name: 'again', arguments: {} }], repeat: ROUNDS },
        { text: 'done', repeat: 2 },
      ],
      tools: [again(), tool('wait', () => new Promise((resolve) => real.setTimeout(() => resolve('waited'), 1)))],
    })
    const order: string[] = []
    harness.ctx.on('session/event', ({ id }, { type }) => void (type === 'tool/result' && order.push(id)))
    const waiting = harness.agent({ id: 'waiting' })
    waiting.followup(userMessage('wait'))
    const spinning = harness.agent({ id: 'spinning' })
    spinning.followup(userMessage('spin'))
    await Promise.all([waiting.whenIdle(), spinning.whenIdle()])
    expect(order.indexOf('waiting')).toBeLessThan(ROUNDS / 2)
    expect(story(waiting.session)).toContain('result call_1: waited')
  })

  it('another such loop is cancelled as well', async () => {
    await using harness = await createHarness({
      script: [
        { calls: [{ name: 'again', arguments: {} }], repeat: 2 * ROUNDS },
        { text: 'done', repeat: 2 },
      ],
      tools: [again()],
    })
    const ends = await Promise.all([cancelled(harness.agent()), cancelled(harness.agent())])
    expect(ends).toEqual(['end 1 aborted by user', 'end 1 aborted by user'])
  })
})
