import { closeSync, fstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { SessionId } from '@loopguard/llm'
import type { SessionEventType } from '@loopguard/session'
import { userMessage } from '@loopguard/testkit'
import { eventsOf, fileHost, temporaryDirectory } from './support/host.ts'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

const id = SessionId('a')
const options = { provider: 'scripted', model: 'scripted' }

/** Takes the log away from its session, as a failing disk does: every write from now on fails. */
function breakDisk(directory: string): void {
  const file = statSync(join(directory, `${id}.jsonl`))
  for (let fd = 3; fd < 4_096; fd++) {
    try {
      const { ino, dev } = fstatSync(fd)
      if (ino === file.ino && dev === file.dev) return closeSync(fd)
    } catch {}
  }
  throw new Error('the log is not open')
}

const turn = [
  'queued next-turn: hi',
  'queued next-turn: later',
  'turn 1',
  'step 1.1',
  'user hi',
  'claimed: hi',
  'header scripted look',
  'model [call_1 look({})] [call_2 look({})]',
  'call call_1',
  'result call_1: ok',
  'call call_2',
  'result call_2: ok',
  'user kept',
  'user kept',
  'end 1.1',
  'step 1.2',
  'model seen',
  'end 1.2',
  'end 1 completed',
]

describe('a disk that fails in mid-turn', () => {
  it.each<[SessionEventType, number]>([
    ['inbox/queued', 2],
    ['turn/start', 3],
    ['step/start', 4],
    ['user/message', 5],
    ['inbox/removed', 6],
    ['request/header', 7],
    ['assistant/message', 8],
    ['tool/call', 9],
    ['tool/result', 10],
    ['step/end', 15],
    ['turn/end', 19],
  ])('after %s: agent/error says so once, the agent goes idle, and the session takes no more', async (last, kept) => {
    await using directory = await temporaryDirectory()
    await using host = await fileHost({
      directory: directory.path,
      script: [{ calls: ['look', 'look'].map((name) => ({ name, arguments: {} })) }, { text: 'seen' }],
      tools: [
        tool('look', (_args, exec) => (exec.deferContext({ ...userMessage('kept'), source: { kind: 'plugin', plugin: 'p' } }), 'ok')),
      ],
    })
    const agent = host.ctx.agentLoop.create(id, options)
    const errors: unknown[] = []
    host.ctx.on('agent/error', ({ agent: of, error }) => void errors.push([of === agent, (error as { code?: string }).code]))
    let left = last === 'inbox/queued' ? 2 : 1
    host.ctx.on('session/event', (_session, { type }) => {
      if (type === last && --left === 0) breakDisk(directory.path)
    })
    agent.followup(userMessage('hi'))
    agent.followup(userMessage('later'))
    await agent.whenIdle()
    expect(errors).toEqual([[true, 'SESSION_WRITE_FAILED']])
    expect(story(agent.session, { headers: true })).toEqual(turn.slice(0, kept))
    expect(agent.status).toBe('idle')
    for (const door of ['followup', 'steer', 'inject'] as const) {
      expect(() => agent[door](userMessage('more'))).toThrow(expect.objectContaining({ code: 'SESSION_WRITE_FAILED' }))
    }
    expect(agent.status).toBe('idle')
    expect(await eventsOf(directory.path, id)).toEqual(agent.session.events)
    expect(host.log.some(({ text }) => text.includes('could not be written'))).toBe(true)

    await agent.dispose()
    const again = await host.ctx.agentLoop.resume(id, options)
    host.model.push({ text: 'back', repeat: 3 })
    again.followup(userMessage('are you there?'))
    await again.whenIdle()
    expect(story(again.session).at(-1)).toMatch(/^end \d completed$/)
  })

  it('a disk that fails while bodies run: they are awaited, their turn is over, nothing hangs', async () => {
    await using directory = await temporaryDirectory()
    let settled = 0
    await using host = await fileHost({
      directory: directory.path,
      script: [{ calls: Array.from({ length: 4 }, () => ({ name: 'slow', arguments: {} })) }],
      tools: [
        tool(
          'slow',
          async (_args, { callId }) => {
            if (callId === 'call_4') breakDisk(directory.path)
            for (let tick = 0; tick < 50; tick++) await Promise.resolve()
            settled++
            return 'ok'
          },
          { isConcurrencySafe: () => true },
        ),
      ],
    })
    const agent = host.ctx.agentLoop.create(id, options)
    agent.followup(userMessage('hi'))
    await agent.whenIdle()
    expect(settled).toBe(4)
    expect(story(agent.session).at(-1)).toBe('call call_4')
    await agent.dispose()
    expect(host.ctx.agentLoop.list()).toEqual([])
  })

  it.each(['its owner', 'the loop'])(
    'a resume that is refused because %s goes says so, although the log can no longer be closed',
    async (which) => {
      await using directory = await temporaryDirectory()
      await using host = await fileHost({ directory: directory.path })
      const interrupted = host.ctx.sessions.create(id)
      interrupted.append('turn/start', { turn: 1 })
      interrupted.close()
      let inner!: Context
      const owner = await host.ctx.plugin({ name: 'owner', inject: ['agentLoop'], apply: (ctx: Context) => void (inner = ctx) })
      // The repair of the log.
      host.ctx.on('session/event', () => {
        breakDisk(directory.path)
        void (which === 'the loop' ? host.unloadLoop() : owner.dispose())
      })
      await expect(inner.agentLoop.resume(id, options)).rejects.toThrow('cannot create effect on inactive context')
      expect(host.ctx.sessions.list()).toEqual([])
      await host.ctx.sessions.load(id)
    },
  )

  it('a cancel while the disk fails says so too', async () => {
    await using directory = await temporaryDirectory()
    await using host = await fileHost({ directory: directory.path })
    const agent = host.ctx.agentLoop.create(id, options)
    const errors: unknown[] = []
    host.ctx.on('agent/error', ({ turn, step, error }) => void errors.push([turn, step, (error as { code?: string }).code]))
    agent.inject(userMessage('note'))
    breakDisk(directory.path)
    agent.cancel()
    expect(errors).toEqual([[0, 0, 'SESSION_WRITE_FAILED']])
    await agent.dispose()
  })
})
