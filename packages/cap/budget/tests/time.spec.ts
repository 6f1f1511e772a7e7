import { fakeClock, gate, userMessage, type FakeClock } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { countOf, ends, forEver, hanging, looks, reached, restless, results, stage, tool } from './stage.ts'

const waits = { calls: [{ name: 'wait', arguments: {} }] }
const stop = { text: 'done' }

/** The fake clock puts the real `Date` back. */
function setWallClock(now: () => number): void {
  globalThis.Date = new Proxy(Date, { get: (target, key, self) => (key === 'now' ? now : (Reflect.get(target, key, self) as unknown)) })
}

function clockOfTest(): FakeClock {
  const clock = fakeClock()
  onTestFinished(() => clock.restore())
  return clock
}

describe('maxTurnMs', () => {
  it('with a hanging tool: cancelled, quiescent, `aborted` with cause `budget`, and nothing in the inbox is lost', async () => {
    const clock = clockOfTest()
    const begun = gate()
    const { agent1 } = await stage({ maxTurnMs: 1_000 }, { script: [waits], tools: [hanging(begun)] })
    agent1.followup(userMessage('go'))
    await begun.opened
    agent1.followup(userMessage('and then'))
    agent1.inject(userMessage('by the way'))
    await clock.advance(999)
    expect([agent1.status, reached(agent1)]).toEqual(['running', []])
    await clock.advance(1)
    await agent1.whenIdle()
    expect([ends(agent1), reached(agent1)]).toEqual([['aborted {"kind":"budget","limit":"maxTurnMs"}'], ['1.1 maxTurnMs 1000']])
    expect(results(agent1)[0]).toContain('agent "agent-1" was cancelled (budget)')
    expect([agent1.inbox.nextTurn.length, agent1.inbox.nextStep.length, agent1.status, clock.pending]).toEqual([1, 1, 'idle', 0])
  })

  it('with a model that hangs: the same', async () => {
    const clock = clockOfTest()
    const { agent1 } = await stage({ maxTurnMs: 1_000 }, { script: ['hang'] })
    agent1.followup(userMessage('go'))
    await clock.advance(1_000)
    await agent1.whenIdle()
    expect([ends(agent1), clock.pending]).toEqual([['aborted {"kind":"budget","limit":"maxTurnMs"}'], 0])
  })

  it('with a listener that hangs before a step: the same, and the claim is kept', async () => {
    const clock = clockOfTest()
    const { agent1, ctx } = await stage({ maxTurnMs: 1_000 })
    ctx.on('agent/pre-step', ({ signal }, next) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(next()))))
    agent1.followup(userMessage('go'))
    await clock.advance(1_000)
    await agent1.whenIdle()
    expect([ends(agent1), reached(agent1)]).toEqual([['aborted {"kind":"budget","limit":"maxTurnMs"}'], ['1.1 maxTurnMs 1000']])
    expect(agent1.inbox.nextTurn).toHaveLength(1)
  })

  it('is over also before a step: then the turn is blocked, and no timer is left', async () => {
    const clock = clockOfTest()
    const { agent1, say, ctx, model } = await stage({ maxTurnMs: 1_000 }, { script: forEver(restless()) })
    // The clock goes on, and nothing lets the timer come to it.
    ctx.on('tools/result', () => {
      if (model.count === 3) setWallClock(() => clock.now + 1_000)
    })
    await say(agent1, 'go')
    expect([model.count, ends(agent1), reached(agent1), clock.pending]).toEqual([3, ['blocked'], ['1.4 maxTurnMs 1000'], 0])
  })

  it('counts anew in each turn', async () => {
    const clock = clockOfTest()
    const { agent1 } = await stage({ maxTurnMs: 1_000 }, { script: [waits, stop, waits, stop], tools: [slow(600)] })
    for (const words of ['one', 'two']) {
      agent1.followup(userMessage(words))
      await clock.advance(600)
      await agent1.whenIdle()
    }
    expect([ends(agent1), clock.pending]).toEqual([['completed', 'completed'], 0])
  })

  it('of two turns in one activity, the timer of the first does not end the second', async () => {
    const clock = clockOfTest()
    const { agent1 } = await stage({ maxTurnMs: 1_000 }, { script: [waits, stop, waits, stop], tools: [slow(800)] })
    agent1.followup(userMessage('one'))
    agent1.followup(userMessage('two'))
    await clock.advance(1_600)
    await agent1.whenIdle()
    expect(ends(agent1)).toEqual(['completed', 'completed'])
  })

  it('a message that waited starts a turn of its own with the next one that is sent', async () => {
    const clock = clockOfTest()
    const begun = gate()
    const { agent1, model } = await stage({ maxTurnMs: 1_000 }, { script: [waits, stop, stop], tools: [hanging(begun)] })
    agent1.followup(userMessage('one'))
    await begun.opened
    agent1.followup(userMessage('two'))
    await clock.advance(1_000)
    expect(agent1.status).toBe('idle')
    agent1.followup(userMessage('three'))
    await clock.advance(0)
    await agent1.whenIdle()
    expect([ends(agent1).slice(1), model.count]).toEqual([['completed', 'completed'], 3])
  })

  it('a tool that does not stop is waited for, and the cause stays', async () => {
    const clock = clockOfTest()
    const [begun, letGo] = [gate(), gate()]
    const deaf = tool('wait', { execute: () => (begun.open(), letGo.opened.then(() => 'at last')) })
    const { agent1 } = await stage({ maxTurnMs: 1_000 }, { script: [waits], tools: [deaf] })
    agent1.followup(userMessage('go'))
    await begun.opened
    await clock.advance(50_000)
    expect([agent1.status, ends(agent1)]).toEqual(['running', []])
    letGo.open()
    await agent1.whenIdle()
    expect([ends(agent1), reached(agent1)]).toEqual([['aborted {"kind":"budget","limit":"maxTurnMs"}'], ['1.1 maxTurnMs 1000']])
  })

  it('a turn that was cancelled before keeps its cause, and a message sent meanwhile still starts a turn', async () => {
    const clock = clockOfTest()
    const [begun, letGo] = [gate(), gate()]
    const deaf = tool('wait', { execute: () => (begun.open(), letGo.opened.then(() => 'at last')) })
    const { agent1 } = await stage({ maxTurnMs: 1_000 }, { script: [waits, stop], tools: [deaf] })
    agent1.followup(userMessage('go'))
    await begun.opened
    agent1.cancel()
    agent1.followup(userMessage('next'))
    await clock.advance(2_000)
    letGo.open()
    await agent1.whenIdle()
    expect([ends(agent1), reached(agent1)]).toEqual([['aborted {"kind":"user"}', 'completed'], []])
  })

  it('longer than a timer can be is no limit that is over at once', async () => {
    const clock = clockOfTest()
    const begun = gate()
    const { agent1 } = await stage({ maxTurnMs: 5_000_000_000 }, { script: [waits], tools: [hanging(begun)] })
    agent1.followup(userMessage('go'))
    await begun.opened
    await clock.advance(4_999_999_999)
    expect(agent1.status).toBe('running')
    await clock.advance(1)
    await agent1.whenIdle()
    expect(reached(agent1)).toEqual(['1.1 maxTurnMs 5000000000'])
  })

  it('a timer that comes early looks again', async () => {
    const clock = clockOfTest()
    const begun = gate()
    const { agent1 } = await stage({ maxTurnMs: 1_000 }, { script: [waits], tools: [hanging(begun)] })
    agent1.followup(userMessage('go'))
    await begun.opened
    // The wall clock was set back: by the log, only half of the time has passed.
    setWallClock(() => clock.now - 500)
    await clock.advance(1_000)
    expect([agent1.status, clock.pending]).toEqual(['running', 1])
    await clock.advance(500)
    await agent1.whenIdle()
    expect(ends(agent1)).toEqual(['aborted {"kind":"budget","limit":"maxTurnMs"}'])
  })
})

describe('maxAgentMs', () => {
  it('is the time that its turns ran: what passes between them does not count', async () => {
    const clock = clockOfTest()
    const { agent1 } = await stage({ maxAgentMs: 1_000 }, { script: [waits, stop, waits, stop], tools: [slow(600)] })
    agent1.followup(userMessage('one'))
    await clock.advance(600)
    await clock.advance(1_000_000)
    agent1.followup(userMessage('two'))
    await clock.advance(399)
    expect([ends(agent1), agent1.status]).toEqual([['completed'], 'running'])
    await clock.advance(1)
    expect(reached(agent1)).toEqual(['2.1 maxAgentMs 1000'])
    // The tool does not stop before it is done.
    await clock.advance(200)
    await agent1.whenIdle()
    expect(ends(agent1)[1]).toBe('aborted {"kind":"budget","limit":"maxAgentMs"}')
  })

  it('is over for good: each later turn is blocked, and it is told once', async () => {
    const clock = clockOfTest()
    const { agent1, say, model } = await stage({ maxAgentMs: 500 }, { script: ['hang'] })
    agent1.followup(userMessage('one'))
    await clock.advance(500)
    await say(agent1, 'two')
    await say(agent1, 'three')
    expect([model.count, ends(agent1).slice(1), reached(agent1)]).toEqual([1, ['blocked', 'blocked'], ['1.1 maxAgentMs 500']])
    expect([agent1.inbox.nextTurn.length, clock.pending]).toEqual([2, 0])
  })

  it('of two limits the one that is over first ends the turn, and one that is over with it is told too', async () => {
    const clock = clockOfTest()
    const { agent1 } = await stage({ maxAgentMs: 500, maxTurnMs: 400 }, { script: ['hang', 'hang', 'hang'] })
    for (const words of ['one', 'two']) {
      agent1.followup(userMessage(words))
      await clock.advance(400)
    }
    expect(ends(agent1)).toEqual(['aborted {"kind":"budget","limit":"maxTurnMs"}', 'aborted {"kind":"budget","limit":"maxAgentMs"}'])
    const both = await stage({ maxAgentMs: 500, maxTurnMs: 500 }, { script: ['hang'] })
    both.agent1.followup(userMessage('go'))
    await clock.advance(500)
    expect([ends(both.agent1), reached(both.agent1)]).toEqual([
      ['aborted {"kind":"budget","limit":"maxTurnMs"}'],
      ['1.1 maxTurnMs 500', '1.1 maxAgentMs 500'],
    ])
  })
})

it('a turn that ends leaves no timer, however it ends', async () => {
  const clock = clockOfTest()
  const failing = { finish: { kind: 'error' as const, failure: { message: 'busy', code: 'BUSY' } } }
  const { agent1, say, agent } = await stage({ maxTurnMs: 1_000, maxAgentMs: 9_000 }, { script: [looks(), stop, failing, 'hang', 'hang'] })
  await say(agent1, 'one')
  expect(clock.pending).toBe(0)
  await say(agent1, 'two')
  expect(clock.pending).toBe(0)
  agent1.followup(userMessage('three'))
  await clock.advance(10)
  expect(clock.pending).toBe(1)
  agent1.cancel()
  await agent1.whenIdle()
  expect(clock.pending).toBe(0)
  const other = agent()
  other.followup(userMessage('four'))
  await clock.advance(10)
  await other.dispose()
  expect([clock.pending, countOf(other, 'budget/reached')]).toEqual([0, 0])
})

it('unloading takes the timers away at once, and the turns go on', async () => {
  const clock = clockOfTest()
  const { agent1, unload } = await stage({ maxTurnMs: 1_000, maxAgentMs: 900 }, { script: [waits, stop], tools: [slow(5_000)] })
  agent1.followup(userMessage('go'))
  await clock.advance(500)
  expect(clock.pending).toBe(2)
  await unload()
  expect(clock.pending).toBe(1)
  await clock.advance(4_500)
  await agent1.whenIdle()
  expect([ends(agent1), reached(agent1), clock.pending]).toEqual([['completed'], [], 0])
})

/** A tool that takes so long. */
function slow(ms: number) {
  return tool('wait', { execute: () => new Promise<string>((resolve) => void setTimeout(resolve, ms, 'waited')) })
}
