import { expect } from 'vitest'
import type { Call } from '../host.ts'
import { type Behaviour, remindersOf, times, withReminder } from '../stage.ts'
import { reminders } from '../transcript.ts'

/** Arguments as text that the loop parses, so that what JSON can say reaches the guard. */
function look(text: string): Call {
  return { name: 'look', arguments: text }
}

function nested(depth: number): unknown {
  let value: unknown = 0
  for (let level = 0; level < depth; level++) value = [value]
  return { value }
}

export const identity: readonly Behaviour[] = [
  {
    id: 'key-order',
    guard: 'repeat-tool-reminder',
    says: 'takes arguments that differ in the order of their keys for the same',
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('key-order')
      const read = await agent.turn(
        'user',
        [look('{"x":1,"y":{"b":2,"a":1}}')],
        [look('{"y":{"a":1,"b":2},"x":1}')],
        [look('{"x":1,"y":{"a":1,"b":2}}')],
      )
      expect(reminders(read)).toEqual(['gentle'])
    },
  },
  {
    id: 'own-proto',
    guard: 'repeat-tool-reminder',
    says: 'tells arguments with an own `__proto__` key apart',
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('own-proto')
      const read = await agent.turn('user', [look('{"__proto__":{"a":1}}')], [look('{"__proto__":{"a":2}}')], [look('{}')])
      expect(reminders(read)).toEqual([])
    },
  },
  {
    id: 'deep',
    guard: 'repeat-tool-reminder',
    says: 'counts arguments nested ten thousand deep, and the call still succeeds',
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('deep')
      const call = { name: 'look', arguments: nested(10_000) }
      expect(await remindersOf(stage.host, agent, times(2, call))).toEqual([])
      const result = await stage.host.call(call, { agent })
      expect(result.isError).toBe(false)
      expect(result.additionalContexts).toHaveLength(1)
    },
  },
]
