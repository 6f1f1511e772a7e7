import { expect } from 'vitest'
import type { PostDecision, PreDecision } from '../decisions.ts'
import type { Exec, Result } from '../host.ts'
import { A, type Behaviour, type Next, remindersOf, times, withReminder } from '../stage.ts'
import { reminders, textOf, transcript } from '../transcript.ts'

export const outcomes: readonly Behaviour[] = [
  {
    id: 'denied',
    guard: 'repeat-tool-reminder',
    says: 'counts a call that was denied',
    async run(stage) {
      await withReminder(stage)
      stage.host.on('tools/pre-execute', (): Promise<PreDecision> => Promise.resolve({ kind: 'deny', reason: 'not today' }))
      const agent = await stage.host.agent('denied')
      const read = await agent.turn('user', [A], [A], [A])
      expect(read.slice(-3)).toEqual(['call look', 'error Error: not today', 'reminder gentle'])
    },
  },
  {
    id: 'failed',
    guard: 'repeat-tool-reminder',
    says: 'counts calls of unknown tools, calls that throw, and calls with malformed arguments',
    async run(stage) {
      await withReminder(stage)
      stage.host.tool({
        name: 'break',
        run: () => {
          throw new Error('broken')
        },
      })
      const agent = await stage.host.agent('failed')
      for (const call of [
        { name: 'missing', arguments: {} },
        { name: 'break', arguments: {} },
        { name: 'look', arguments: '{"a":1' },
      ]) {
        expect(reminders(await agent.turn('user', [call], [call], [call])), call.name).toEqual(['gentle'])
      }
    },
  },
  {
    id: 'wrapper-throws',
    guard: 'repeat-tool-reminder',
    says: 'counts a call whose wrapper throws',
    async run(stage) {
      await withReminder(stage)
      stage.host.on('tools/execute', () => Promise.reject(new Error('wrapper')))
      const agent = await stage.host.agent('wrapper-throws')
      expect(reminders(await agent.turn('user', [A], [A], [A]))).toEqual(['gentle'])
    },
  },
  {
    id: 'accept',
    guard: 'repeat-tool-reminder',
    says: 'puts its reminder before the contexts of an accepted result and leaves the content alone',
    async run(stage) {
      await withReminder(stage)
      const note = stage.host.message('other', 'noted')
      stage.host.on('tools/post-execute', (): Promise<PostDecision> =>
        Promise.resolve({ kind: 'accept', content: [{ type: 'text', text: 'rewritten' }], additionalContexts: [note] }),
      )
      const agent = await stage.host.agent('accept')
      await remindersOf(stage.host, agent, [A, A])
      const result = await stage.host.call(A, { agent })
      expect(textOf(result.content)).toBe('rewritten')
      expect(transcript(result.additionalContexts ?? [])).toEqual(['reminder gentle', 'context other: noted'])
    },
  },
  {
    id: 'block',
    guard: 'repeat-tool-reminder',
    says: 'puts its reminder before the contexts of a blocked result and leaves the feedback alone',
    async run(stage) {
      await withReminder(stage)
      const note = stage.host.message('other', 'noted')
      stage.host.on('tools/post-execute', (): Promise<PostDecision> =>
        Promise.resolve({ kind: 'block', feedback: [{ type: 'text', text: 'no good' }], additionalContexts: [note] }),
      )
      const agent = await stage.host.agent('block')
      await remindersOf(stage.host, agent, [A, A])
      const result = await stage.host.call(A, { agent })
      expect(result.isError).toBe(true)
      expect(textOf(result.content)).toBe('no good')
      expect(transcript(result.additionalContexts ?? [])).toEqual(['reminder gentle', 'context other: noted'])
    },
  },
  {
    id: 'not-delegating',
    guard: 'repeat-tool-reminder',
    says: 'counts although a listener registered before it does not delegate',
    async run(stage) {
      stage.host.on('tools/post-execute', (): Promise<PostDecision> => Promise.resolve({ kind: 'accept' }))
      await withReminder(stage)
      const agent = await stage.host.agent('not-delegating')
      expect(await remindersOf(stage.host, agent, times(3, A))).toEqual(['gentle'])
    },
  },
  {
    id: 'nested',
    guard: 'repeat-tool-reminder',
    says: 'ignores calls that a tool makes itself',
    async run(stage) {
      await withReminder(stage)
      stage.host.tool({ name: 'outer', run: async (call) => textOf((await call.nested(A)).content) })
      const agent = await stage.host.agent('nested')
      expect(reminders(await agent.turn('user', ...times(3, [{ name: 'outer', arguments: {} }])))).toEqual(['gentle'])
    },
  },
  {
    id: 'batch',
    guard: 'repeat-tool-reminder',
    says: 'counts each call of a batch, and the model reads the reminders after the last result of the step',
    async run(stage) {
      await withReminder(stage)
      const agent = await stage.host.agent('batch')
      const read = await agent.turn('user', times(8, A))
      expect(read).toEqual([...times(8, 'call look'), ...times(8, 'result same'), 'reminder gentle', 'reminder 5', 'reminder 8'])
    },
  },
  {
    id: 'concluded',
    guard: 'repeat-tool-reminder',
    says: 'counts a result that concludes the turn, and does not remind on it',
    async run(stage) {
      await withReminder(stage)
      let conclude = false
      stage.host.tool({
        name: 'end',
        run: (call) => {
          if (conclude) call.conclude()
          return 'ended'
        },
      })
      const agent = await stage.host.agent('concluded')
      const call = { name: 'end', arguments: {} }
      await remindersOf(stage.host, agent, [call, call])
      conclude = true
      expect(await remindersOf(stage.host, agent, [call])).toEqual([])
      conclude = false
      expect(await remindersOf(stage.host, agent, [call, call])).toEqual(['5'])
    },
  },
  {
    id: 'observes',
    guard: 'repeat-tool-reminder',
    says: 'changes no call and no result',
    async run(stage) {
      const seen: { exec: Exec; result: Result }[] = []
      stage.host.on('tools/post-execute', (exec: Exec, result: Result, next: Next<PostDecision>) => {
        seen.push({ exec, result })
        return next()
      })
      await withReminder(stage)
      const agent = await stage.host.agent('observes')
      const { signal } = new AbortController()
      const results = [await stage.host.call(A, { agent, signal }), await stage.host.call(A, { agent, signal })]
      expect(results.map(({ content, additionalContexts }) => [textOf(content), additionalContexts])).toEqual(times(2, ['same', undefined]))
      expect(seen.map(({ exec }) => [exec.name, exec.arguments, exec.agent, exec.signal])).toEqual(
        times(2, ['look', { at: 1 }, agent.handle, signal]),
      )
    },
  },
]
