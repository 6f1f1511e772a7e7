import { CallId, text } from '@loopguard/llm'
import { expect, it } from 'vitest'
import { OpenStep } from '../src/open-step.ts'

it('counts each call of its message once, until its result is logged', () => {
  const call = (id: string) => ({ type: 'tool-call' as const, id: CallId(id), name: 'look', arguments: '{}' })
  const step = new OpenStep([text('hm'), call('a'), call('b'), call('a')])
  expect([step.open, step.close('other'), step.open]).toEqual([2, undefined, 2])
  expect([step.close('a'), step.open]).toEqual(['open', 1])
  expect([step.close('a'), step.open]).toEqual(['logged', 1])
  step.calls.set('b', 'seen')
  expect([step.close('b'), step.open]).toEqual(['seen', 0])
})

it('owes each reminder once', () => {
  const step = new OpenStep([])
  expect([step.owing, step.settle('x')]).toEqual([0, false])
  step.owe('x')
  step.owe('x')
  step.owe('y')
  expect([step.owing, step.settle('x'), step.settle('x'), step.owing]).toEqual([2, true, false, 1])
})
