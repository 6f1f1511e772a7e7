import { describe, expect, it } from 'vitest'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'

describe('status', () => {
  it('is running before a sender returns, and its listeners hear of it by then', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const heard: string[] = []
    harness.ctx.on('agent/status', (event) => void heard.push(`${event.status}, and is ${event.agent.status}`))
    agent.followup(userMessage('hi'))
    heard.push('sent')
    await agent.whenIdle()
    expect(heard).toEqual(['running, and is running', 'sent', 'idle, and is idle'])
  })

  it('changes once for all turns that follow one another', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 3 }] })
    const agent = harness.agent()
    const heard: string[] = []
    harness.ctx.on('agent/status', ({ status }) => void heard.push(status))
    for (const text of ['a', 'b', 'c']) agent.followup(userMessage(text))
    await agent.whenIdle()
    expect(heard).toEqual(['running', 'idle'])
    expect(story(agent.session).at(-1)).toBe('end 3 completed')
  })

  it('alternates for every listener, also when one of them sends a message on hearing of idle', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 3 }] })
    const agent = harness.agent()
    const before: string[] = []
    const after: string[] = []
    let left = 2
    harness.ctx.on('agent/status', ({ status }) => void before.push(status))
    harness.ctx.on('agent/status', ({ status }) => {
      if (status === 'idle' && left-- > 0) agent.followup(userMessage('more'))
    })
    harness.ctx.on('agent/status', ({ status }) => void after.push(status))
    await harness.say(agent, 'hi')
    const alternating = ['running', 'idle', 'running', 'idle', 'running', 'idle']
    expect([before, after]).toEqual([alternating, alternating])
  })

  it('a listener that throws starves no other and stops no turn', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const heard: string[] = []
    harness.ctx.on('agent/status', () => {
      throw new Error('not my day')
    })
    harness.ctx.on('agent/status', ({ status }) => void heard.push(status))
    await harness.say(agent, 'hi')
    expect(heard).toEqual(['running', 'idle'])
    expect(story(agent.session).at(-1)).toBe('end 1 completed')
    expect(harness.log.map(({ text }) => text).join()).toContain('not my day')
  })
})

describe('whenIdle', () => {
  it('settles at once for an idle agent', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    await agent.whenIdle()
    agent.inject(userMessage('note'))
    await agent.whenIdle()
    expect(agent.inbox.hasPending).toBe(true)
  })

  it('follows turns and activities that start meanwhile', async () => {
    const asked = gate()
    const more = gate()
    await using harness = await createHarness({
      script: [
        async () => {
          asked.open()
          await more.opened
          return { text: 'one' }
        },
        { text: 'two' },
        { text: 'three' },
      ],
    })
    const agent = harness.agent()
    let left = 1
    harness.ctx.on('agent/status', ({ status }) => {
      if (status === 'idle' && left-- > 0) agent.followup(userMessage('c'))
    })
    agent.followup(userMessage('a'))
    await asked.opened
    const waiting = [agent.whenIdle(), agent.whenIdle()]
    agent.followup(userMessage('b'))
    more.open()
    await Promise.all(waiting)
    expect(story(agent.session).at(-1)).toBe('end 3 completed')
  })

  it('does not reject when the turn fails or the agent goes', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    agent.followup(userMessage('fails'))
    await expect(agent.whenIdle()).resolves.toBeUndefined()
    agent.followup(userMessage('fails too'))
    void agent.dispose()
    await expect(agent.whenIdle()).resolves.toBeUndefined()
    await agent.dispose()
    await expect(agent.whenIdle()).resolves.toBeUndefined()
  })

  it('an exporter of the logger that throws does not keep the agent running', async () => {
    await using harness = await createHarness()
    harness.ctx.logger.exporter({
      levels: { default: 3 },
      export() {
        throw new Error('no paper')
      },
    } as never)
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', () => {
      throw new Error('broken')
    })
    agent.followup(userMessage('hi'))
    await agent.whenIdle()
    expect(story(agent.session).at(-1)).toBe('end 1 error LOOP_FAILED')
  })
})
