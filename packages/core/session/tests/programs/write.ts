// Goes on with the session `soak` in whole turns until it is killed. Says -1 before it opens it, then the seq of each event once it is
// committed.
import { writeSync } from 'node:fs'
import { Context } from '@deepseek-ai/cordis'
import { codeOf } from '@loopguard/llm'
import SessionStore, { lastTurn, type Session } from '@loopguard/session'
import { assistant, type Entry, resultOf, user } from '../support.ts'

const [directory = '', durability = ''] = process.argv.slice(2)
say(-1)
const ctx = new Context()
const durable = durability === 'durable'
await ctx.plugin(SessionStore, { directory, durable })
const session = await open()
for (let turn = lastTurn(session) + 1; ; turn++) {
  for (const [type, data] of turnOf(turn)) {
    const { seq } = session.append(type, data as never)
    if (durable) await session.flush()
    say(seq)
  }
}

async function open(): Promise<Session> {
  try {
    return await ctx.sessions.load('soak')
  } catch (refused) {
    if (codeOf(refused) !== 'SESSION_NOT_FOUND') throw refused
    return ctx.sessions.create('soak')
  }
}

/** A kill between the commit and this leaves a committed event unsaid, never the other way round. */
function say(seq: number): void {
  for (;;) {
    try {
      return void writeSync(1, `${seq}\n`)
    } catch (full) {
      // The pipe holds what nobody has read yet.
      if ((full as NodeJS.ErrnoException).code !== 'EAGAIN') throw full
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

function turnOf(turn: number): Entry[] {
  const place = { turn, step: 1 }
  const calls = [`c${turn}a`, `c${turn}b`]
  const asked = user(`turn ${turn}`)
  return [
    ['inbox/queued', { target: 'next-turn', message: asked }],
    ['turn/start', { turn }],
    ['step/start', place],
    ['user/message', asked],
    ['inbox/removed', { ids: [asked.id], cause: 'claimed' }],
    // Now and then a line so long that a kill can fall into the middle of writing it.
    ['assistant/message', { ...place, message: assistant('x'.repeat(turn % 8 === 0 ? 2_000_000 : 10), calls) }],
    ...calls.map((callId): Entry => ['tool/call', { ...place, callId, name: 'read', arguments: '{}' }]),
    ...calls.map((callId): Entry => ['tool/result', { ...place, message: resultOf(callId, 'done') }]),
    ['step/end', place],
    ['turn/end', { turn, reason: { kind: 'completed' } }],
  ]
}
