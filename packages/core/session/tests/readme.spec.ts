import { readdir, readFile } from 'node:fs/promises'
import { Context } from '@deepseek-ai/cordis'
import { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from '@loopguard/session'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, expect, it } from 'vitest'
import * as bookmarks from './samples/bookmarks.ts'
import * as quota from './samples/quota.ts'
import { remember } from './samples/remember.ts'
import { assistant, hostWith, storeIn, tempDir, typesOf, write } from './support.ts'

afterAll(watchContexts())

const folder = new URL('../', import.meta.url)
const readme = await readFile(new URL('README.md', folder), 'utf8')

/** The cells of the table below `heading`, row by row, without its head and its backticks. */
function table(heading: string): string[][] {
  const [rows = ''] = /(?:^\|.*\n)+/m.exec(readme.slice(readme.indexOf(heading))) ?? []
  const cells = rows.trim().split('\n')
  return cells.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

it('remember: what one process heard, the next one knows', async () => {
  const directory = tempDir()
  await remember(directory, 'one')
  const messages = await remember(directory, 'two')
  expect(messages.map(({ content }) => content)).toEqual([[{ type: 'text', text: 'one' }], [{ type: 'text', text: 'two' }]])
})

it('bookmarks: a listener adds events of its own', async () => {
  const ctx = await hostWith()
  await ctx.plugin(bookmarks)
  const session = write(ctx.sessions.create('a'), [
    ['turn/start', { turn: 1 }],
    ['turn/end', { turn: 1, reason: { kind: 'completed' } }],
  ])
  expect(typesOf(session)).toEqual(['session/start', 'turn/start', 'turn/end', 'bookmark/set'])
  expect(bookmarks.bookmarksOf(session)).toEqual(['turn 1'])
})

it('quota: a throw in internal/dispatch refuses the event', async () => {
  const ctx: Context = await hostWith()
  await ctx.plugin(quota, { maxEvents: 2 })
  const session = ctx.sessions.create('a')
  session.append('turn/start', { turn: 1 })
  expect(() => session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })).toThrow('session "a" is full')
  expect(typesOf(session)).toEqual(['session/start', 'turn/start'])
})

it('the table of repairs says what the model reads', async () => {
  const store = await storeIn(tempDir())
  const place = { turn: 1, step: 1 }
  write(store.create('a'), [
    ['turn/start', { turn: 1 }],
    ['step/start', place],
    ['assistant/message', { ...place, message: assistant('', ['started', 'waiting']) }],
    ['tool/call', { ...place, callId: 'started', name: 'read', arguments: '{}' }],
  ]).close()
  const answers = (await store.load('a')).events.flatMap((event) => (event.type === 'tool/result' ? [event.data] : []))
  const read = answers.map(({ message, error }) => [error?.code, message.content[0].content])
  const rows = table('<!-- repairs:').map(([code, , text]) => [code, [{ type: 'text', text }]])
  expect(rows.map(([code]) => code)).toEqual([TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN])
  expect(read.toReversed()).toEqual(rows)
})

it('the table of errors holds every code that the sources name, and no other', async () => {
  const source = new URL('src/', folder)
  const files = (await readdir(source)).filter((file) => file !== 'invariant.ts' && file !== 'recovery-codes.ts')
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, source), 'utf8')))
  const named = texts.join('\n').matchAll(/'((?:SESSION|BAD|APPEND)_[A-Z_]+)'/g)
  const codes = new Set([...named].map(([, code]) => code))
  expect(new Set(table('<!-- errors:').map(([code]) => code))).toEqual(codes)
})
