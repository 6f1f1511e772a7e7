import { type Context } from '@deepseek-ai/cordis'
import { AgentLoop } from '@loopguard/agent-loop'
import { SessionId } from '@loopguard/llm'
import Subagents, { type SubagentRequest } from '@loopguard/subagent'
import { createHarness, gate, userMessage } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asks, Cast, endOf, expectWhole, ids, logsOf, results, stage, tool, turns } from './support.ts'

/** A host whose plugin can be unloaded by the test. */
async function unloadable() {
  const cast = new Cast()
  const harness = await createHarness({ adapter: cast })
  onTestFinished(() => harness.dispose())
  const plugin = harness.ctx.plugin(Subagents)
  await plugin
  return { cast, harness, plugin, parent: harness.agent({ id: 'main' }) }
}

describe('unloading the plugin while children work', () => {
  it('ends every child before it is done, the parent reads why, and the tool is gone', async () => {
    const { cast, harness, plugin, parent } = await unloadable()
    const logs = logsOf(harness)
    const working = gate()
    let count = 0
    for (const id of ['main.1', 'main.2']) cast.play(id, () => (++count === 2 && working.open(), 'hang'))
    cast.play('main', asks('a', 'b'), { text: 'I go on alone.' })
    const said = harness.say(parent, 'go')
    await working.opened
    await plugin.dispose()
    expect(ids(harness)).toEqual(['main'])
    expect(harness.ctx.tools.get('subagent')).toBeUndefined()
    await said
    expect(results(parent).map(({ text, code }) => [code, text])).toEqual(
      ['main.1', 'main.2'].map((id) => [
        'SUBAGENT_FAILED',
        `Error: subagent "${id}" did not complete: aborted (disposed); it had said nothing`,
      ]),
    )
    expect(endOf(parent.session.events)).toBe('completed')
    for (const events of logs.values()) expectWhole(events)
  })

  it('starts no more: a kept reference to the service is refused', async () => {
    const { harness, plugin, parent } = await unloadable()
    const { subagents } = harness.ctx
    await plugin.dispose()
    await expect(subagents.run({ parent, prompt: 'a' })).rejects.toMatchObject({ code: 'SUBAGENTS_CLOSED' })
    expect(ids(harness)).toEqual(['main'])
  })

  it('and loading it again: the count of the root goes on, children work', async () => {
    const { cast, harness, plugin, parent } = await unloadable()
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    await plugin.dispose()
    await harness.ctx.plugin(Subagents, { maxTotal: 2 })
    cast.play('main', asks('b', 'c'))
    await harness.say(parent, 'go')
    expect(results(parent).map(({ code }) => code)).toEqual([undefined, undefined, 'SUBAGENT_TOTAL'])
  })
})

describe('disposing of the parent in the middle', () => {
  it('takes children and theirs along, each before its parent, and leaves whole logs', async () => {
    const { harness, cast, parent } = await stage()
    const logs = logsOf(harness)
    const gone: string[] = []
    const working = gate()
    harness.ctx.on('agent/disposed', ({ agent }) => void gone.push(agent.id))
    cast.play('main', asks('a'))
    cast.play('main.1', asks('b'))
    cast.play('main.1.1', () => (working.open(), 'hang'))
    parent.followup(userMessage('go'))
    await working.opened
    await parent.dispose()
    expect([gone, ids(harness), harness.ctx.sessions.list()]).toEqual([['main.1.1', 'main.1', 'main'], [], []])
    for (const events of logs.values()) expectWhole(events)
    expect(endOf(logs.get('main.1')!)).toBe('aborted by parent')
    expect(endOf(logs.get('main')!)).toBe('aborted by disposed')
  })

  it('while code waits for the child: it hears how that ended', async () => {
    const { harness, cast, parent } = await stage()
    const working = gate()
    cast.play('main.1', () => (working.open(), 'hang'))
    const running = harness.ctx.subagents.run({ parent, prompt: 'a' })
    await working.opened
    await parent.dispose()
    await expect(running).resolves.toMatchObject({ id: 'main.1', text: '', reason: { kind: 'aborted', reason: { kind: 'disposed' } } })
    await expect(harness.ctx.subagents.run({ parent, prompt: 'a' })).rejects.toMatchObject({ code: 'BAD_SUBAGENT' })
  })
})

describe('a child that cannot begin', () => {
  it.each<[string, Partial<SubagentRequest>, string]>([
    ['a tool of its own that is none', { tools: [{ name: 'report' } as never] }, 'BAD_TOOL'],
    ['two tools of one name', { tools: [tool('report') as never, tool('report') as never] }, 'TOOL_EXISTS'],
  ])('for %s: the run rejects, and nothing is left', async (_what, more, code) => {
    const { harness, parent } = await stage()
    await expect(harness.ctx.subagents.run({ parent, prompt: 'a', ...more })).rejects.toMatchObject({ code })
    expect([ids(harness), harness.ctx.sessions.list().length, harness.ctx.subagents.list()]).toEqual([['main'], 1, []])
  })

  it('for a log that takes no prompt: the call is an error, and nothing is left', async () => {
    const { harness, cast, parent } = await stage({ invariants: false })
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      const [session, event] = args as [{ readonly id: string }, { readonly type: string }]
      if (name === 'session/event' && session.id !== 'main' && event.type === 'inbox/queued') {
        throw Object.assign(new Error('disk full'), { code: 'DISK' })
      }
    })
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([{ code: 'DISK', text: 'Error: disk full' }])
    expect([ids(harness), harness.ctx.sessions.list().length]).toEqual([['main'], 1])
  })

  it('for an id that a listener takes: the call is an error, and nothing is left', async () => {
    const { harness, parent } = await stage()
    harness.ctx.on('session/event', (session, { type }) => {
      if (type === 'subagent/start') session.close()
    })
    expect(() => harness.ctx.subagents.start({ parent, prompt: 'a' })).toThrow(expect.objectContaining({ code: 'SESSION_CLOSED' }))
    expect([ids(harness), harness.ctx.sessions.list().length]).toEqual([['main'], 1])
  })

  it('with a listener of agent/created that throws: it works all the same, and that is logged', async () => {
    const { harness, cast, parent } = await stage()
    harness.ctx.on('agent/created', () => {
      throw new Error('not me')
    })
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([{ text: 'done' }])
    expect(harness.log.map(({ text }) => text).join()).toContain('not me')
  })
})

describe('a request', () => {
  it.each<[string, object, string]>([
    ['a parent that is none', { parent: { id: 'main' } }, '`parent` must be a living agent of the loop, got "main"'],
    ['no parent', { parent: undefined }, '`parent` must be a living agent of the loop, got undefined'],
    ['a blank prompt', { prompt: ' ' }, '`prompt` must be non-blank text, got " "'],
    ['a model that is no text', { model: 7 }, '`model` must be text or left out, got 7'],
    ['tools that are no list', { tools: {} }, '`tools` must be a list of tools or left out, got an object'],
    ['a filter that is none', { toolFilter: [] }, '`toolFilter` must be { allow: […] } or { deny: […] }, got an array'],
    [
      'a filter of both kinds',
      { toolFilter: { allow: [], deny: [] } },
      '`toolFilter` must be { allow: […] } or { deny: […] }, got the keys "allow", "deny"',
    ],
    ['a filter of no kind', { toolFilter: {} }, '`toolFilter` must be { allow: […] } or { deny: […] }, got neither'],
    [
      'a pattern that is blank',
      { toolFilter: { deny: ['a', ''] } },
      '`toolFilter.deny` must hold non-blank text only, got "" (at index 1)',
    ],
    ['patterns that are no list', { toolFilter: { allow: 'a' } }, '`toolFilter.allow` must be a list of patterns, got "a"'],
  ])('with %s is refused, and the message says what is wanted', async (_what, fault, message) => {
    const { harness, parent } = await stage()
    await expect(harness.ctx.subagents.run({ parent, prompt: 'a', ...fault })).rejects.toMatchObject({
      code: 'BAD_SUBAGENT',
      message: `subagents: ${message}`,
    })
    expect(ids(harness)).toEqual(['main'])
  })
})

describe('a configuration', () => {
  it.each<[string, object, string]>([
    ['a depth of none', { maxDepth: 0 }, 'maxDepth'],
    ['a total of none', { maxTotal: 0 }, 'maxTotal'],
    ['a total that is no integer', { maxTotal: 1.5 }, 'maxTotal'],
    ['an unknown key', { maxdepth: 3 }, 'unknown key `maxdepth`, did you mean `maxDepth`?'],
    [
      'a filter that is none',
      { toolFilter: { allowed: ['a'] } },
      'subagent: `toolFilter` must be { allow: […] } or { deny: […] }, got the keys "allowed"',
    ],
    ['a filter of null', { toolFilter: null }, '`toolFilter` is null'],
    ['a blank name', { toolName: ' ' }, 'subagent: `toolName` must not be blank'],
    ['a blank model', { model: '' }, 'subagent: `model` must not be blank'],
  ])('with %s is refused', async (_what, config, words) => {
    const cast = new Cast()
    await expect(createHarness({ adapter: cast, plugins: [[Subagents, config]] })).rejects.toThrow(words)
  })

  it('may be left out', async () => {
    const harness = await createHarness({ plugins: [Subagents] })
    onTestFinished(() => harness.dispose())
    expect(harness.ctx.tools.get('subagent')).toBeDefined()
  })
})

describe('the host', () => {
  it('may take the loop away and give it back: the service follows, and no child is left', async () => {
    const cast = new Cast()
    const harness = await createHarness({ adapter: cast, plugins: [Subagents] })
    onTestFinished(() => harness.dispose())
    const parent = harness.agent({ id: 'main' })
    const working = gate()
    cast.play('main.1', () => (working.open(), 'hang'))
    const running = harness.ctx.subagents.run({ parent, prompt: 'a' })
    await working.opened
    const loop = [...harness.ctx.registry.values()].find(({ callback }) => callback === (AgentLoop as unknown))
    const [fiber] = [...(loop?.fibers ?? [])]
    await (fiber as { dispose(): Promise<void> }).dispose()
    await expect(running).resolves.toMatchObject({ reason: { kind: 'aborted' } })
    await turns()
    expect(harness.ctx.get('subagents')).toBeUndefined()
    await harness.ctx.plugin(AgentLoop)
    await turns()
    const again = harness.ctx.agentLoop.create(SessionId('again'), { provider: 'scripted', model: 'm' })
    await expect((harness.ctx as Context).subagents.run({ parent: again, prompt: 'a' })).resolves.toMatchObject({ text: 'done' })
  })
})
