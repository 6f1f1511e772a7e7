import { Context } from '@deepseek-ai/cordis'
import SessionStore, { type Session, type SessionEvent } from '@loopguard/session'
import { describe, expect, it } from 'vitest'

async function store(): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(SessionStore)
  return ctx
}

describe('append', () => {
  it('starts the log with session/start', async () => {
    const ctx = await store()
    const session = ctx.sessions.create('a')
    expect(session.events).toEqual([{ seq: 0, time: expect.any(Number), type: 'session/start', data: { version: 1, id: 'a' } }])
  })

  it('publishes an append from inside a listener after the current event', async () => {
    const ctx = await store()
    const heard: string[] = []
    const note = (name: string) => (session: Session, event: SessionEvent) => {
      heard.push(`${name} ${event.seq} ${event.type}`)
      if (name === 'first' && event.type === 'turn/start') {
        session.append('step/start', { turn: 1, step: 1 })
        heard.push(`committed ${session.events.at(-1)?.type}`)
      }
    }
    ctx.on('session/event', note('first'))
    ctx.on('session/event', note('second'))
    ctx.sessions.create('a').append('turn/start', { turn: 1 })
    expect(heard).toEqual([
      'first 0 session/start',
      'second 0 session/start',
      'first 1 turn/start',
      'committed step/start',
      'second 1 turn/start',
      'first 2 step/start',
      'second 2 step/start',
    ])
  })
})
