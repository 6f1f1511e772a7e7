import { describe, expect, it } from 'vitest'
import { createHarness, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

describe('a pre-step that lets nothing in', () => {
  it('at the start of a turn ends it: no step, no request, and the next message has its turn', async () => {
    await using harness = await createHarness({ script: [{ text: 'hello' }] })
    harness.ctx.on('agent/pre-step', async ({ messages }, next) => {
      return JSON.stringify(messages).includes('/help') ? { kind: 'enter', messages: [] } : next()
    })
    const agent = harness.agent()
    agent.followup(userMessage('/help'))
    agent.followup(userMessage('hi'))
    await agent.whenIdle()
    expect(story(agent.session)).toEqual([
      'queued next-turn: /help',
      'queued next-turn: hi',
      'turn 1',
      'claimed: /help',
      'end 1 completed',
      'turn 2',
      'step 2.1',
      'user hi',
      'claimed: hi',
      'model hello',
      'end 2.1',
      'end 2 completed',
    ])
    expect(harness.model.requests).toHaveLength(1)
  })

  it('at the end of a turn lets it end, and who waits for that is asked once', async () => {
    await using harness = await createHarness({ script: [{ text: 'hello' }] })
    let asked = 0
    harness.ctx.on('agent/turn-stopping', ({ agent }) => {
      asked++
      agent.steer(userMessage('and?'))
    })
    harness.ctx.on('agent/pre-step', async ({ step }, next) => (step > 1 ? { kind: 'enter', messages: [] } : next()))
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(5)).toEqual(['model hello', 'end 1.1', 'queued next-step: and?', 'claimed: and?', 'end 1 completed'])
    expect({ asked, requests: harness.model.requests.length }).toEqual({ asked: 1, requests: 1 })
  })

  it('for a message that was steered in, has the end of the turn asked for as ever, and numbers go on', async () => {
    await using harness = await createHarness({ script: [{ text: 'one' }, { text: 'two' }] })
    harness.ctx.on('agent/pre-step', async ({ messages }, next) => {
      return JSON.stringify(messages).includes('drop') ? { kind: 'enter', messages: [] } : next()
    })
    let asked = 0
    harness.ctx.on('agent/turn-stopping', ({ agent }) => {
      if (asked++ === 0) agent.steer(userMessage('go on'))
    })
    const agent = harness.agent()
    let steered = false
    harness.ctx.on('session/event', (_session, { type }) => {
      if (type === 'assistant/message' && !steered) {
        steered = true
        agent.steer(userMessage('drop me'))
      }
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session).filter((line) => /^(step|model|end)/.test(line))).toEqual([
      'step 1.1',
      'model one',
      'end 1.1',
      'step 1.2',
      'model two',
      'end 1.2',
      'end 1 completed',
    ])
    expect(asked).toBe(2)
  })

  it('does not keep the model from the results that it is owed', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
      tools: [tool('look')],
    })
    harness.ctx.on('agent/pre-step', async ({ step }, next) => (step > 1 ? { kind: 'enter', messages: [] } : next()))
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-3)).toEqual(['model seen', 'end 1.2', 'end 1 completed'])
  })

  it('says max-tokens all the same when a step was cut', async () => {
    await using harness = await createHarness({ script: [{ text: 'hel', finish: 'max-tokens' }] })
    harness.ctx.on('agent/turn-stopping', ({ agent }) => agent.steer(userMessage('and?')))
    harness.ctx.on('agent/pre-step', async ({ step }, next) => (step > 1 ? { kind: 'enter', messages: [] } : next()))
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).at(-1)).toBe('end 1 max-tokens')
  })
})

describe('an answer with a key that nothing reads ends the turn with an error', () => {
  it('an enter', async () => {
    await using harness = await createHarness({ script: [{ text: 'hello' }] })
    harness.ctx.on('agent/pre-step', async ({ messages }) => ({ kind: 'enter', messages, system: 'Be brief.' }) as never)
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).at(-1)).toBe('end 1 error BAD_ANSWER')
    expect(harness.log[0]?.text).toContain('gave an enter that has the key "system", which nothing here reads, expected `kind`, `messages`')
    expect(harness.model.requests).toEqual([])
  })

  it('a retry', async () => {
    await using harness = await createHarness()
    harness.ctx.on('agent/request-error', async () => ({ kind: 'retry', delayMs: 500 }) as never)
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).at(-1)).toBe('end 1 error BAD_ANSWER')
    expect(harness.model.count).toBe(1)
  })
})
