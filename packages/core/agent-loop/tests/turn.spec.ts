import { describe, expect, it } from 'vitest'
import { createHarness } from '@loopguard/testkit'
import { story, words } from './support/story.ts'
import { tool } from './support/tools.ts'

describe('a turn', () => {
  it('takes a message from the inbox to the log and ends when the model asks for no tool', async () => {
    await using harness = await createHarness({ script: [{ text: 'hello' }] })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session, { headers: true })).toEqual([
      'queued next-turn: hi',
      'turn 1',
      'step 1.1',
      'user hi',
      'claimed: hi',
      'header scripted',
      'model hello',
      'end 1.1',
      'end 1 completed',
    ])
    expect(harness.log).toEqual([])
  })

  it('runs the tools that the model asks for and shows it the results', async () => {
    await using harness = await createHarness({
      script: [{ text: 'let me see', calls: [{ name: 'look', arguments: { at: 1 } }] }, { text: 'seen' }],
      tools: [tool('look', (args) => JSON.stringify(args))],
    })
    const agent = harness.agent()
    await harness.say(agent, 'look at it')
    expect(story(agent.session, { headers: true })).toEqual([
      'queued next-turn: look at it',
      'turn 1',
      'step 1.1',
      'user look at it',
      'claimed: look at it',
      'header scripted look',
      'model let me see [call_1 look({"at":1})]',
      'call call_1',
      'result call_1: {"at":1}',
      'end 1.1',
      'step 1.2',
      'model seen',
      'end 1.2',
      'end 1 completed',
    ])
    expect(harness.model.requests[1]?.messages).toEqual(agent.session.deriveMessages().slice(0, 3))
  })

  it.each([
    ['description', { description: 'looks twice' }],
    ['parameters', { parameters: { type: 'object', required: ['at'] } }],
  ])('a tool that comes back under its name with another %s is logged, and told to the model', async (_what, change) => {
    await using harness = await createHarness({ script: [{ text: 'one' }, { text: 'two' }] })
    const agent = harness.agent()
    const remove = harness.ctx.tools.register(tool('look'))
    await harness.say(agent, 'a')
    remove()
    harness.ctx.tools.register(tool('look', undefined, change))
    await harness.say(agent, 'b')
    expect(story(agent.session, { headers: true }).filter((line) => line.startsWith('header'))).toEqual(
      Array(2).fill('header scripted look'),
    )
    expect(harness.model.requests[1]?.tools).toEqual([expect.objectContaining({ name: 'look', ...change })])
    expect(agent.session.events.findLast(({ type }) => type === 'request/header')?.data).toMatchObject({ tools: [change] })
  })

  it('a tool that comes back as it was is not logged again', async () => {
    await using harness = await createHarness({ script: [{ text: 'one' }, { text: 'two' }] })
    const agent = harness.agent()
    const remove = harness.ctx.tools.register(tool('look'))
    await harness.say(agent, 'a')
    remove()
    harness.ctx.tools.register(tool('look'))
    await harness.say(agent, 'b')
    expect(story(agent.session, { headers: true }).filter((line) => line.startsWith('header'))).toEqual(['header scripted look'])
  })

  it('a request that is kept shows what the model saw, however long the log has grown since', async () => {
    // Without the invariants nobody reads a request before the log has grown.
    await using harness = await createHarness({ script: [{ text: 'one' }, { text: 'two' }, { text: 'three' }], invariants: false })
    const agent = harness.agent()
    for (const text of ['a', 'b', 'c']) await harness.say(agent, text)
    const [first, second] = harness.model.requests
    expect(second?.messages.map(words)).toEqual(['a', 'one', 'b'])
    expect(first?.messages.map(words)).toEqual(['a'])
    expect(first?.messages).toBe(first?.messages)
    expect([first, first?.messages].every(Object.isFrozen)).toBe(true)
    expect({ ...second }.messages).toBe(second?.messages)
  })
})
