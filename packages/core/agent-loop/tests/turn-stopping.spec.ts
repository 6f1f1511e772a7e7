import { describe, expect, it } from 'vitest'
import { createHarness, userMessage } from '@loopguard/testkit'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

describe('agent/turn-stopping', () => {
  it('runs once, when a step wants to end the turn and nothing waits', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'a' }, { text: 'b' }],
      tools: [tool('look')],
    })
    const agent = harness.agent()
    const heard: unknown[] = []
    harness.ctx.on('agent/turn-stopping', ({ agent: of, turn, signal }) => void heard.push([of === agent, turn, signal.aborted]))
    await harness.say(agent, 'one')
    await harness.say(agent, 'two')
    expect(heard).toEqual([
      [true, 1, false],
      [true, 2, false],
    ])
  })

  it('every listener runs, one after the other, whatever those before it return', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const heard: string[] = []
    for (const [name, answer] of Object.entries({ zero: 0, text: 'stop', yes: true, object: { kind: 'stop' }, nothing: undefined })) {
      harness.ctx.on('agent/turn-stopping', async () => {
        heard.push(`${name} begins`)
        await Promise.resolve()
        heard.push(`${name} ends`)
        return answer
      })
    }
    await harness.say(agent, 'hi')
    expect(heard).toEqual(['zero', 'text', 'yes', 'object', 'nothing'].flatMap((name) => [`${name} begins`, `${name} ends`]))
    expect(story(agent.session).at(-1)).toBe('end 1 completed')
  })

  it.each(['steer', 'inject'] as const)('a listener that uses %s gets one more step, and is asked again after it', async (door) => {
    await using harness = await createHarness({ script: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] })
    const agent = harness.agent()
    let asked = 0
    harness.ctx.on('agent/turn-stopping', () => {
      if (++asked <= 2) agent[door](userMessage(`more ${asked}`))
    })
    await harness.say(agent, 'hi')
    expect(asked).toBe(3)
    expect(story(agent.session).slice(4)).toEqual([
      'claimed: hi',
      'model a',
      'end 1.1',
      'queued next-step: more 1',
      'step 1.2',
      'user more 1',
      'claimed: more 1',
      'model b',
      'end 1.2',
      'queued next-step: more 2',
      'step 1.3',
      'user more 2',
      'claimed: more 2',
      'model c',
      'end 1.3',
      'end 1 completed',
    ])
  })

  it('a followup does not hold the turn', async () => {
    await using harness = await createHarness({ script: [{ text: 'a' }, { text: 'b' }] })
    const agent = harness.agent()
    let asked = 0
    harness.ctx.on('agent/turn-stopping', () => {
      if (++asked === 1) agent.followup(userMessage('next'))
    })
    await harness.say(agent, 'hi')
    expect(story(agent.session).filter((line) => /^(end \d |user)/.test(line))).toEqual([
      'user hi',
      'end 1 completed',
      'user next',
      'end 2 completed',
    ])
  })

  it('is not asked while something waits for a step', async () => {
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'finish', arguments: {} }] }, { text: 'ok' }],
      tools: [tool('finish', () => (agent.steer(userMessage('wait')), 'bye'), { concludesTurn: true })],
    })
    const agent = harness.agent()
    const asked: number[] = []
    harness.ctx.on('agent/turn-stopping', () => void asked.push(harness.model.count))
    await harness.say(agent, 'hi')
    expect(asked).toEqual([2])
  })

  it('is not asked when the turn is blocked or fails', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    let asked = 0
    harness.ctx.on('agent/turn-stopping', () => void asked++)
    await harness.say(agent, 'fails: the script is empty')
    harness.ctx.on('agent/pre-step', async () => ({ kind: 'reject' }))
    await harness.say(agent, 'blocked')
    expect(asked).toBe(0)
  })

  it('a listener that throws ends the turn with its error, and the others have run', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
    const agent = harness.agent()
    const heard: string[] = []
    harness.ctx.on('agent/turn-stopping', () => {
      heard.push('first')
      throw Object.assign(new Error('first'), { code: 'FIRST' })
    })
    harness.ctx.on('agent/turn-stopping', () => {
      heard.push('second')
      return Promise.reject(Object.assign(new Error('second'), { code: 'SECOND' }))
    })
    harness.ctx.on('agent/turn-stopping', () => void heard.push('third'))
    const errors: unknown[] = []
    harness.ctx.on('agent/error', ({ turn, step, error }) => void errors.push([turn, step, (error as Error).message]))
    await harness.say(agent, 'hi')
    expect(heard).toEqual(['first', 'second', 'third'])
    expect(story(agent.session).slice(-2)).toEqual(['end 1.1', 'end 1 error FIRST'])
    expect(errors).toEqual([[1, 1, 'first']])
  })
})
