import type { SessionEvent } from '@loopguard/session'
import { describe, expect, it } from 'vitest'
import { type OnTakeover, wakeUp } from '../src/takeover.ts'
import { eventOf, says, startOf } from './support.ts'

const queued = (id: string): readonly [string, unknown] => ['inbox/queued', { target: 'next-turn', message: says(id, id) }]
const ended = (kind: string): readonly [string, unknown] => ['turn/end', { turn: 1, reason: { kind, reason: { kind: 'user' } } }]
const left = (...ids: string[]): readonly [string, unknown] => ['inbox/removed', { ids, cause: 'claimed' }]

function logOf(entries: readonly (readonly [string, unknown])[], first: SessionEvent = startOf('a')): { readonly events: SessionEvent[] } {
  return { events: [first, ...entries.map(([type, data], at) => eventOf(at + 1, type, data))] }
}

function outcome(entries: readonly (readonly [string, unknown])[], onTakeover: OnTakeover): string {
  const message = wakeUp(logOf(entries), onTakeover)
  return message === undefined ? 'rests' : message.source.kind === 'plugin' ? 'is told to go on' : message.id
}

describe('an agent whose log was taken over', () => {
  it.each<[string, readonly (readonly [string, unknown])[], wait: string, resume: string]>([
    ['had nothing to do', [], 'rests', 'rests'],
    ['had done all', [queued('m1'), left('m1'), ended('completed')], 'rests', 'rests'],
    ['had not begun', [queued('m1'), queued('m2')], 'm1', 'm1'],
    ['was between two turns', [queued('m1'), queued('m2'), left('m1'), ended('completed')], 'm2', 'm2'],
    ['was inside a turn', [queued('m1'), left('m1'), ended('interrupted')], 'rests', 'is told to go on'],
    ['was inside a turn, with more to come', [queued('m1'), left('m1'), queued('m2'), ended('interrupted')], 'rests', 'm2'],
    ['has been told to go on already', [queued('m1'), left('m1'), ended('interrupted'), queued('m2')], 'm2', 'm2'],
    ['had failed', [queued('m1'), queued('m2'), left('m1'), ended('error')], 'rests', 'rests'],
    ['had failed, and was asked again', [queued('m1'), left('m1'), ended('error'), queued('m2')], 'm2', 'm2'],
    ['was blocked', [queued('m1'), ended('blocked')], 'rests', 'rests'],
    ['was cancelled, and kept its inbox', [queued('m1'), queued('m2'), left('m1'), ended('aborted')], 'rests', 'rests'],
  ])('that %s', (_what, entries, wait, resume) => {
    expect([outcome(entries, 'wait'), outcome(entries, 'resume')]).toEqual([wait, resume])
  })

  it('that is a child rests', () => {
    const child = eventOf(0, 'session/start', { version: 1, id: 'a', parent: 'p' })
    expect(wakeUp(logOf([queued('m1'), left('m1'), ended('interrupted')], child), 'resume')).toBeUndefined()
  })
})
