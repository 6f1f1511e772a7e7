import { Context } from '@deepseek-ai/cordis'
import { expect, it } from 'vitest'
import { watchLog } from '../src/step-log.ts'

it.each([
  ['a host without an inbox', {}, ['session "one": the step ends without 1 of the reminders that its results showed']],
  ['a host that hands them to an inbox', { inbox: { nextStep: [{ id: 'reminder' }] } }, []],
])('what a result shows is missed at the end of its step: %s', (_host, agent, expected) => {
  const ctx = new Context()
  const complaints: string[] = []
  const seeResult = watchLog(
    ctx,
    (complaint) => void complaints.push(complaint),
    (messages) => messages.map(({ id }) => id),
  )
  const log = (type: string, data: object): void =>
    (ctx.events.emit as (...args: unknown[]) => void)('session/event', { id: 'one' }, { type, data, seq: 1 })
  log('assistant/message', { message: { content: [{ type: 'tool-call', id: 'a', name: 'look', arguments: '{}' }] } })
  seeResult({ agent: { id: 'one', ...agent }, callId: 'a' } as never, { additionalContexts: [{ id: 'reminder' }] } as never)
  log('tool/result', { message: { source: { callId: 'a' } } })
  log('step/end', {})
  expect(complaints).toEqual(expected)
})
