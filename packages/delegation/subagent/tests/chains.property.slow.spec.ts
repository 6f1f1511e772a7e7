import fc from 'fast-check'
import * as reminder from '@loopguard/repeat-tool-reminder'
import type { SessionEvent } from '@loopguard/session'
import { userMessage } from '@loopguard/testkit'
import { expect, it } from 'vitest'
import { asks, logsOf, stage, tool, uses } from './support.ts'

const CALLS = 9

/** After which of its equal calls an agent was reminded. */
function remindedAt(events: readonly SessionEvent[]): number[] {
  let count = 0
  return events.flatMap(({ type, data }) => {
    if (type === 'tool/call' && data.name === 'look') count++
    return type === 'user/message' && data.source.kind === 'plugin' && data.source.plugin === 'repeat-tool-reminder' ? [count] : []
  })
}

it('a parent and two children make the same call in any order: each is reminded at its own third, fifth and eighth', async () => {
  const schedules = fc.shuffledSubarray(
    ['main', 'main.1', 'main.2'].flatMap((id) => Array.from({ length: CALLS }, () => id)),
    { minLength: 3 * CALLS },
  )
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const { harness, cast, parent } = await stage({ plugins: [reminder], tools: [tool('look')] })
      const logs = logsOf(harness)
      const order: string[] = []
      const waiting = new Map<string, () => void>()
      let at = 0
      // The next agent of the schedule makes its call; the one after it waits until that has its result.
      const advance = (): void => {
        const next = schedule[at]
        const release = next === undefined ? undefined : waiting.get(next)
        if (release === undefined) return
        waiting.delete(next!)
        release()
      }
      harness.ctx.on('tools/result', ({ name, agent }) => {
        if (name !== 'look') return
        order.push(agent!.id)
        at++
        advance()
      })
      const look = (id: string) => async () => {
        await new Promise<void>((resolve) => {
          waiting.set(id, resolve)
          advance()
        })
        return uses('look')
      }
      for (const id of ['main', 'main.1', 'main.2']) cast.play(id, ...Array.from({ length: CALLS }, () => look(id)), { text: 'done' })
      const children = [1, 2].map(() => harness.ctx.subagents.run({ parent, prompt: 'look' }))
      parent.followup(userMessage('look'))
      await Promise.all([...children, parent.whenIdle()])
      expect(order).toEqual(schedule)
      expect(['main', 'main.1', 'main.2'].map((id) => remindedAt(logs.get(id)!))).toEqual([
        [3, 5, 8],
        [3, 5, 8],
        [3, 5, 8],
      ])
      await harness.dispose()
    }),
    { numRuns: 40 },
  )
})

it('a call that delegates counts in the chain of the parent, and what the child does counts in its own', async () => {
  const { harness, cast, parent } = await stage({ plugins: [reminder], tools: [tool('look')] })
  const logs = logsOf(harness)
  cast.play('main', ...Array.from({ length: 5 }, () => asks('the same')))
  cast.play('main.1', uses('look'), uses('look'))
  await harness.say(parent, 'go')
  const reminded = parent.session.events.filter(
    ({ type, data }) => type === 'user/message' && (data as { source: { kind: string } }).source.kind === 'plugin',
  )
  expect(reminded).toHaveLength(2)
  expect(remindedAt(logs.get('main.1')!)).toEqual([])
})
