import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@loopguard/agent-loop'
import { SessionId } from '@loopguard/llm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asks, call, ids, logsOf, results, stage, turns } from './support.ts'

const options = { provider: 'scripted', model: 'scripted' }
const TOO_DEEP = {
  code: 'SUBAGENT_DEPTH',
  text: 'Error: limit reached: subagents 3 deep (subagent.maxDepth); do the work yourself',
}

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'subagent-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('maxDepth', () => {
  it('lets children nest three deep; a fourth is an error that says so, and the child goes on', async () => {
    const { harness, cast, parent } = await stage()
    const logs = logsOf(harness)
    for (const id of ['main', 'main.1', 'main.1.1', 'main.1.1.1']) cast.play(id, asks('go deeper'), { text: `${id} is done` })
    await harness.say(parent, 'go')
    expect([...logs.keys()].filter((id) => id !== 'main').toSorted()).toEqual(['main.1', 'main.1.1', 'main.1.1.1'])
    expect(results({ session: { events: logs.get('main.1.1.1')! } })).toEqual([TOO_DEEP])
    expect(results(parent)).toEqual([{ text: 'main.1 is done' }])
    const depths = Array.from(logs.values(), ([, second]) => (second?.type === 'subagent/start' ? second.data.depth : 0))
    expect(depths.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3])
  })

  it('holds over a resume: a child of depth 3 that goes on without its parent makes none', async () => {
    const path = await directory()
    const first = await stage({ sessions: { directory: path } })
    for (const id of ['main', 'main.1', 'main.1.1']) first.cast.play(id, asks('go deeper'))
    await first.harness.say(first.parent, 'go')
    await first.harness.dispose()

    const { harness, cast } = await stageWithoutMain(path)
    const logs = logsOf(harness)
    const deepest = await harness.ctx.agentLoop.resume(SessionId('main.1.1.1'), options)
    cast.play('main.1.1.1', asks('go deeper'))
    await harness.say(deepest, 'go on')
    expect(results(deepest)).toEqual([TOO_DEEP])
    const middle = await harness.ctx.agentLoop.resume(SessionId('main.1.1'), options)
    cast.play('main.1.1', asks('go deeper'))
    await harness.say(middle, 'go on')
    expect(results(middle)).toEqual([{ text: 'done' }, { text: 'done' }])
    expect([...logs.keys()]).toEqual(['main.1.1.1', 'main.1.1', 'main.1.1.2'])
  })

  it('holds for every child: the service refuses too, and an agent that another plugin made counts', async () => {
    const { harness, parent } = await stage({ config: { maxDepth: 2 } })
    const made = parent.ctx.agentLoop.create(SessionId('made'), options)
    const below = made.ctx.agentLoop.create(SessionId('below'), options)
    const code = async (agent: Agent) =>
      harness.ctx.subagents.run({ parent: agent, prompt: 'a' }).then(
        ({ id }) => id,
        (error: unknown) => (error as { code: string }).code,
      )
    expect([await code(parent), await code(made), await code(below)]).toEqual(['main.1', 'made.1', 'SUBAGENT_DEPTH'])
    expect(() => harness.ctx.subagents.start({ parent: below, prompt: 'a' })).toThrow(expect.objectContaining({ code: 'SUBAGENT_DEPTH' }))
  })
})

describe('maxTotal', () => {
  it('bounds the children that the tool makes for one root, whichever agent below it asks, also when they are gone', async () => {
    const { harness, cast, parent } = await stage({ config: { maxTotal: 4 } })
    const logs = logsOf(harness)
    cast.play('main', asks('a', 'b'), asks('c'), asks('d'), { text: 'enough' })
    cast.play('main.1', asks('x'))
    await harness.say(parent, 'go')
    expect(results(parent).map(({ code, text }) => code ?? text)).toEqual(['done', 'done', 'done', 'SUBAGENT_TOTAL'])
    expect(results(parent)[3]?.text).toBe('Error: limit reached: 4 subagents (subagent.maxTotal); do the work yourself')
    expect([...logs.keys()].toSorted()).toEqual(['main', 'main.1', 'main.1.1', 'main.2', 'main.3'])
  })

  it('refuses a child, too, whose root has used it up', async () => {
    const { harness, cast, parent } = await stage({ config: { maxTotal: 2 } })
    const logs = logsOf(harness)
    cast.play('main', asks('a'))
    cast.play('main.1', asks('x', 'y'))
    await harness.say(parent, 'go')
    const codes = results({ session: { events: logs.get('main.1')! } }).map(({ code }) => code)
    expect([codes, [...logs.keys()]]).toEqual([
      [undefined, 'SUBAGENT_TOTAL'],
      ['main', 'main.1', 'main.1.1'],
    ])
  })

  it('is each root’s own, with two roots that work at the same time', async () => {
    const { harness, cast, parent } = await stage({ config: { maxTotal: 2 } })
    const other = harness.agent({ id: 'other' })
    for (const id of ['main', 'other']) cast.play(id, asks('a', 'b', 'c'))
    await Promise.all([harness.say(parent, 'go'), harness.say(other, 'go')])
    for (const root of [parent, other]) {
      expect(results(root).map(({ code, text }) => code ?? text)).toEqual(['done', 'done', 'SUBAGENT_TOTAL'])
    }
    expect(ids(harness)).toEqual(['main', 'other'])
  })

  it('holds over a resume, and new children get numbers that no log has', async () => {
    const path = await directory()
    const first = await stage({ config: { maxTotal: 3 }, sessions: { directory: path } })
    first.cast.play('main', asks('a', 'b'))
    await first.harness.say(first.parent, 'go')
    await first.harness.dispose()

    const { harness, cast } = await stageWithoutMain(path, { maxTotal: 3 })
    const logs = logsOf(harness)
    const parent = await harness.ctx.agentLoop.resume(SessionId('main'), options)
    cast.play('main', asks('c', 'd'))
    await harness.say(parent, 'go on')
    expect(results(parent).map(({ code, text }) => code ?? text)).toEqual(['done', 'done', 'done', 'SUBAGENT_TOTAL'])
    const made = [...logs.keys()].filter((id) => id !== 'main')
    expect(made).toEqual(['main.4'])
  })

  it('does not bound what code asks the service for', async () => {
    const { harness, cast, parent } = await stage({ config: { maxTotal: 1 } })
    for (let round = 0; round < 3; round++) await harness.ctx.subagents.run({ parent, prompt: 'a' })
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([{ text: 'done' }])
  })

  it('counts a start that fails: a model that goes on asking is stopped all the same', async () => {
    const { harness, cast, parent } = await stage({ config: { maxTotal: 2 }, invariants: false })
    // Refuses the first event that a child would write.
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      const [, event] = args as [unknown, { readonly type: string } | undefined]
      if (name === 'session/event' && event?.type === 'subagent/start') throw Object.assign(new Error('no room'), { code: 'NO_ROOM' })
    })
    cast.play('main', asks('a'), asks('b'), asks('c'))
    await harness.say(parent, 'go')
    expect(results(parent).map(({ code }) => code)).toEqual(['NO_ROOM', 'NO_ROOM', 'SUBAGENT_TOTAL'])
    expect([ids(harness), harness.ctx.sessions.list().map(({ id }) => id)]).toEqual([['main'], ['main']])
  })
})

describe('the number of a child', () => {
  it('is found after ten thousand of a former life in a few attempts, and goes on from there', async () => {
    const { harness, parent } = await stage()
    let attempts = 0
    const { sessions } = harness.ctx
    const taken = new Set(Array.from({ length: 10_000 }, (_, index) => `main.${index + 1}`))
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      const [session, event] = args as [{ readonly id: string }, { readonly type: string }]
      if (name !== 'session/event' || event.type !== 'session/start') return
      attempts++
      if (taken.has(session.id)) throw Object.assign(new Error('taken'), { code: 'SESSION_EXISTS' })
    })
    const first = await harness.ctx.subagents.run({ parent, prompt: 'a' })
    expect(attempts).toBeLessThan(20)
    const second = await harness.ctx.subagents.run({ parent, prompt: 'a' })
    const number = (id: string): number => Number(id.slice('main.'.length))
    expect(number(first.id)).toBeGreaterThan(10_000)
    expect(number(second.id)).toBe(number(first.id) + 1)
    expect(sessions.list().map(({ id }) => id)).toEqual(['main'])
  })

  it('skips an id that lives, and gives way to a random one below a parent whose own id is long', async () => {
    const { harness, parent } = await stage()
    harness.agent({ id: 'main.1' })
    expect((await harness.ctx.subagents.run({ parent, prompt: 'a' })).id).toBe('main.2')
    const long = harness.agent({ id: 'x'.repeat(190) })
    expect((await harness.ctx.subagents.run({ parent: long, prompt: 'a' })).id).toMatch(/^[\da-f-]{36}$/)
    await turns()
  })

  it('is refused as the store refuses it for any other reason', async () => {
    const { harness, parent } = await stage({ invariants: false })
    harness.ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'session/event') throw Object.assign(new Error('no'), { code: 'DISK' })
    })
    const result = await call(harness, 'subagent', { description: 'a', prompt: 'a' }, { agent: parent })
    expect(result).toMatchObject({ error: { info: { code: 'DISK' } } })
  })
})

async function stageWithoutMain(path: string, config = {}) {
  const { harness, cast, parent } = await stage({ config, sessions: { directory: path }, main: false })
  expect(parent).toBeUndefined()
  return { harness, cast }
}
