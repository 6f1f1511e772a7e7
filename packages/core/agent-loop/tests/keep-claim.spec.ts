import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { createUserMessage, SessionId, text, type UserMessage } from '@loopguard/llm'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { fileHost, temporaryDirectory } from './support/host.ts'
import { story, words } from './support/story.ts'
import { tool } from './support/tools.ts'

const note = (said: string): UserMessage => createUserMessage({ content: [text(said)], source: { kind: 'plugin', plugin: 'note' } })
const looks = { calls: [{ name: 'look', arguments: {} }] }

describe('a rejection that keeps its claim', () => {
  it('ends the turn as blocked, and the messages wait again where they were, in their order and in front', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async () => {
      agent.inject(note('later'))
      return { kind: 'reject', keep: true }
    })
    agent.inject(note('first'))
    agent.inject(note('second'))
    agent.followup(userMessage('hi'))
    agent.followup(userMessage('and'))
    await agent.whenIdle()
    expect(story(agent.session).slice(4)).toEqual(['turn 1', 'queued next-step: later', 'end 1 blocked'])
    expect(agent.inbox.nextStep.map(words)).toEqual(['first', 'second', 'later'])
    expect(agent.inbox.nextTurn.map(words)).toEqual(['hi', 'and'])
    expect([agent.status, harness.model.count]).toEqual(['idle', 0])
  })

  it('spins not: each later message is one turn that is asked once, and the first that may enter brings all that was kept', async () => {
    await using harness = await createHarness({ script: [{ text: 'at last' }, { text: 'and you' }] })
    const agent = harness.agent()
    let isClosed = true
    let asked = 0
    harness.ctx.on('agent/pre-step', async (_event, next) => {
      asked++
      return isClosed ? { kind: 'reject', keep: true } : next()
    })
    await harness.say(agent, 'one')
    await harness.say(agent, 'two')
    expect(asked).toBe(2)
    expect(story(agent.session)).toEqual([
      'queued next-turn: one',
      'turn 1',
      'end 1 blocked',
      'queued next-turn: two',
      'turn 2',
      'end 2 blocked',
    ])
    isClosed = false
    agent.steer(note('go'))
    await agent.whenIdle()
    expect(story(agent.session).slice(6)).toEqual([
      'queued next-step: go',
      'turn 3',
      'step 3.1',
      'user go',
      'user one',
      'claimed: go, one',
      'model at last',
      'end 3.1',
      'end 3 completed',
      'turn 4',
      'step 4.1',
      'user two',
      'claimed: two',
      'model and you',
      'end 4.1',
      'end 4 completed',
    ])
  })

  it('of a later step keeps what was steered meanwhile, for the next turn', async () => {
    await using harness = await createHarness({
      script: [looks, { text: 'ok' }],
      tools: [tool('look', () => (agent.steer(userMessage('rather')), 'ok'))],
    })
    const agent = harness.agent()
    let isClosed = true
    harness.ctx.on('agent/pre-step', async ({ step }, next) => (isClosed && step === 2 ? { kind: 'reject', keep: true } : next()))
    await harness.say(agent, 'hi')
    expect(story(agent.session).slice(-3)).toEqual(['result call_1: ok', 'end 1.1', 'end 1 blocked'])
    expect(agent.inbox.nextStep.map(words)).toEqual(['rather'])
    isClosed = false
    await harness.say(agent, 'go on')
    expect(harness.model.requests.at(-1)?.messages.map(words).slice(-2)).toEqual(['rather', 'go on'])
  })

  it('is kept by the log: an agent whose process is killed then has, when it is resumed, what was not let in', async () => {
    await using directory = await temporaryDirectory()
    await using later = await temporaryDirectory()
    await using host = await fileHost({ directory: directory.path })
    const first = host.ctx.agentLoop.create(SessionId('kept'), { provider: 'scripted', model: 'any' })
    host.ctx.on('agent/pre-step', async () => ({ kind: 'reject', keep: true }))
    first.followup(userMessage('hi'))
    await first.whenIdle()
    await cp(join(directory.path, 'kept.jsonl'), join(later.path, 'kept.jsonl'))
    await using next = await fileHost({ directory: later.path, script: [{ text: 'ok' }] })
    const agent = await next.ctx.agentLoop.resume(SessionId('kept'), { provider: 'scripted', model: 'any' })
    expect(agent.inbox.nextTurn.map(words)).toEqual(['hi'])
    agent.steer(note('go'))
    await agent.whenIdle()
    expect(next.model.requests[0]?.messages.map(words)).toEqual(['go', 'hi'])
  })

  it('keeps nothing that a cancel has discarded meanwhile', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async () => {
      agent.cancel()
      return { kind: 'reject', keep: true }
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session)).toEqual(['queued next-turn: hi', 'turn 1', 'discarded: hi', 'end 1 aborted by user'])
    expect(agent.inbox.hasPending).toBe(false)
  })

  it('a message that is sent while the answer is awaited waits for the next wake', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    const [asked, answer] = [gate(), gate()]
    let times = 0
    harness.ctx.on('agent/pre-step', async () => {
      times++
      asked.open()
      await answer.opened
      return { kind: 'reject', keep: true }
    })
    agent.followup(userMessage('one'))
    await asked.opened
    agent.followup(userMessage('two'))
    answer.open()
    await agent.whenIdle()
    expect([times, agent.inbox.nextTurn.map(words)]).toEqual([1, ['one', 'two']])
  })
})

it('a rejection with `keep: false` is one without it: the claim is gone', async () => {
  await using harness = await createHarness()
  const agent = harness.agent()
  harness.ctx.on('agent/pre-step', async () => ({ kind: 'reject', keep: false }))
  await harness.say(agent, 'hi')
  expect(story(agent.session)).toEqual(['queued next-turn: hi', 'turn 1', 'claimed: hi', 'end 1 blocked'])
})

it.each([['yes', '"yes"'] as const, [null, 'null'] as const, [1, '1'] as const])(
  'a rejection whose `keep` is %j is no answer',
  async (keep, shown) => {
    await using harness = await createHarness()
    const agent = harness.agent()
    harness.ctx.on('agent/pre-step', async () => ({ kind: 'reject', keep }) as never)
    await harness.say(agent, 'hi')
    expect(story(agent.session).at(-1)).toBe('end 1 error BAD_ANSWER')
    expect(harness.log[0]?.text).toContain(`gave a reject whose keep is ${shown}, not true or false`)
  },
)
