import { Context } from '@deepseek-ai/cordis'
import { watchSteps } from '@loopguard/advisory'
import type { StepCalls } from '@loopguard/repeat'
import { expect, it } from 'vitest'

function watched(): { readonly say: (type: string, data?: unknown) => void; readonly calls: () => StepCalls['calls'] | undefined } {
  const ctx = new Context()
  const stepOf = watchSteps(ctx)
  const emit = ctx.events.emit.bind(ctx.events) as (...args: unknown[]) => void
  return { say: (type, data) => emit('session/event', { id: 'one' }, { type, data }), calls: () => stepOf({ id: 'one' })?.calls }
}

const call = (name: unknown, raw: unknown): object => ({ type: 'tool-call', id: 'x', name, arguments: raw })

it('knows the calls of a step from its message to its end, with arguments as a loop reads them', () => {
  const { say, calls } = watched()
  expect(calls()).toBeUndefined()
  const content = [{ type: 'text', text: 'hm' }, call('a', ''), call('b', '{"at":1}'), call('c', '{"at":')]
  say('assistant/message', { message: { content } })
  const seen = calls()
  expect(seen).toEqual([
    { name: 'a', args: {} },
    { name: 'b', args: { at: 1 } },
    { name: 'c', args: '{"at":' },
  ])
  say('tool/call', {})
  expect(calls()).toBe(seen)
  say('step/end', {})
  expect(calls()).toBeUndefined()
})

it.each([
  ['nothing', undefined],
  ['no message', {}],
  ['no content', { message: {} }],
  ['content that is no list', { message: { content: 'x' } }],
  ['blocks that are none', { message: { content: [null, 7, 'x', {}] } }],
  ['calls without a name or arguments', { message: { content: [call(7, '{}'), call('a', {}), call('a', undefined)] } }],
])('a message of another kind has no calls: %s', (_title, data) => {
  const { say, calls } = watched()
  say('assistant/message', data)
  expect(calls()).toEqual([])
})
