import { expect } from 'vitest'
import { A, B, type Behaviour, remindersOf, times, withReminder, X } from '../stage.ts'
import { reminders } from '../transcript.ts'

export const counting: readonly Behaviour[] = [
  {
    id: 'escalation',
    guard: 'repeat-tool-reminder',
    says: 'reminds at the third, fifth and eighth identical call, each in a step of its own, and is silent from then on',
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('escalation')
      const read = await agent.turn('user', ...times(12, [A]))
      const step = ['call look', 'result same']
      const expected = [step, step, step, ['reminder gentle'], step, step, ['reminder 5'], step, step, step, ['reminder 8']]
      expect(read).toEqual([...expected, ...times(4, step)].flat())
    },
  },
  {
    id: 'thresholds',
    guard: 'repeat-tool-reminder',
    says: 'takes thresholds in any order, and the lowest one is the gentle one',
    async run(stage) {
      await withReminder(stage, { thresholds: [4, 2] })
      const agent = await stage.host.agent('thresholds')
      expect(await remindersOf(stage.host, agent, times(5, A))).toEqual(['gentle', '4'])
    },
  },
  {
    id: 'restart',
    guard: 'repeat-tool-reminder',
    says: 'counts from one again after a different call, or the same tool with other arguments',
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('restart')
      const read = await agent.turn('user', [A], [A], [B], [A], [A], [X], [A], [A], [A])
      expect(read.slice(-3)).toEqual(['call look', 'result same', 'reminder gentle'])
      expect(reminders(read)).toEqual(['gentle'])
    },
  },
  {
    id: 'exclude',
    guard: 'repeat-tool-reminder',
    says: 'neither counts nor resets on an excluded call',
    async run(stage) {
      await withReminder(stage, { exclude: ['n*e'] })
      const agent = await stage.host.agent('exclude')
      expect(reminders(await agent.turn('user', [X], [X], [X], [A], [A], [X], [X], [A]))).toEqual(['gentle'])
    },
  },
  {
    id: 'include',
    guard: 'repeat-tool-reminder',
    says: 'counts included tools alone',
    async run(stage) {
      await withReminder(stage, { include: ['look'] })
      const agent = await stage.host.agent('include')
      expect(reminders(await agent.turn('user', [X], [X], [X], [A], [X], [A], [X], [A]))).toEqual(['gentle'])
    },
  },
  {
    id: 'agents',
    guard: 'repeat-tool-reminder',
    says: 'keeps a chain for each agent',
    async run(stage) {
      await withReminder(stage)
      const [one, two] = [await stage.host.agent('one'), await stage.host.agent('two')]
      await one.turn('user', [A], [A])
      expect(reminders(await two.turn('plugin', [A], [A]))).toEqual([])
      expect(reminders(await one.turn('plugin', [A]))).toEqual(['gentle'])
    },
  },
  {
    id: 'agentless',
    guard: 'repeat-tool-reminder',
    says: 'leaves calls without an agent alone',
    async run(stage) {
      await withReminder(stage)
      expect(await remindersOf(stage.host, undefined, times(9, A))).toEqual([])
    },
  },
  {
    id: 'user-message',
    guard: 'repeat-tool-reminder',
    says: 'starts anew with a message of the user',
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('user-message')
      await agent.turn('user', [A], [A])
      expect(reminders(await agent.turn('user', [A], [A]))).toEqual([])
      expect(reminders(await agent.turn('plugin', [A]))).toEqual(['gentle'])
    },
  },
  {
    id: 'plugin-message',
    guard: 'repeat-tool-reminder',
    says: "counts on over turns that a plugin's message began",
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('plugin-message')
      await agent.turn('user', [A], [A])
      await agent.turn('plugin')
      expect(reminders(await agent.turn('plugin', [A]))).toEqual(['gentle'])
    },
  },
]
