import { expect } from 'vitest'
import { onFakeClock } from '../clock.ts'
import { A, type Behaviour, remindersOf, times, withReminder } from '../stage.ts'

export const lifecycle: readonly Behaviour[] = [
  {
    id: 'reminder-dispose',
    guard: 'repeat-tool-reminder',
    says: 'is gone once it is unloaded, and loaded again it reminds once, on a fresh chain',
    async run(stage) {
      const unload = await withReminder(stage)
      const agent = await stage.host.agent('reminder-dispose')
      expect(await remindersOf(stage.host, agent, times(2, A))).toEqual([])
      await unload()
      expect(await remindersOf(stage.host, agent, times(9, A))).toEqual([])
      await stage.host.plug(stage.subject.repeatToolReminder, {})
      expect(await remindersOf(stage.host, agent, times(3, A))).toEqual(['gentle'])
    },
  },
  {
    id: 'timeout-dispose',
    guard: 'timeout-policy',
    says: 'is gone once it is unloaded, and loaded again it arms one timer',
    run: ({ host, subject }) =>
      onFakeClock(async (clock) => {
        const armed: number[] = []
        host.tool({ name: 'quick', timeoutMs: 1_000, run: () => `${armed.push(clock.armed())}` })
        const call = { name: 'quick', arguments: {} }
        const unload = await host.plug(subject.timeoutPolicy)
        await host.call(call)
        await unload()
        await host.call(call)
        await host.plug(subject.timeoutPolicy)
        await host.call(call)
        expect([...armed, clock.armed()]).toEqual([1, 0, 1, 0])
      }),
  },
  {
    id: 'bad-thresholds',
    guard: 'repeat-tool-reminder',
    says: 'refuses thresholds that are empty, doubled, fractional or below two, and names them',
    async run({ host, subject }) {
      for (const thresholds of [[], [2, 2], [1.5], [1], ['3']]) {
        await expect(host.plug(subject.repeatToolReminder, { thresholds }), JSON.stringify(thresholds)).rejects.toThrow(/threshold/)
      }
    },
  },
  {
    id: 'bad-config',
    guard: 'repeat-tool-reminder',
    says: 'refuses a key that it does not know, a null, and a blank pattern',
    async run({ host, subject }) {
      for (const config of [{ treshold: [3] }, { thresholds: null }, { include: [''] }]) {
        await expect(host.plug(subject.repeatToolReminder, config), JSON.stringify(config)).rejects.toThrow()
      }
    },
  },
]
