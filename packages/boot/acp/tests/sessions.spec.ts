import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import type { Frontend } from '@loopguard/agent-loop'
import { describe, expect, it, onTestFinished } from 'vitest'
import { host, refusal, told, tool, turnEnds } from './support.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'loopguard-acp-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

it.each([PROTOCOL_VERSION, 0, 99])(
  'initialize of version %s: says the version of the protocol, who answers, and what it can',
  async (protocolVersion) => {
    const { acp } = await host()
    expect(await acp.request(methods.agent.initialize, { protocolVersion, clientCapabilities: {} })).toEqual({
      protocolVersion: 1,
      agentInfo: { name: 'loopguard', version: expect.any(String) },
      agentCapabilities: { loadSession: true, promptCapabilities: { embeddedContext: true }, sessionCapabilities: { list: {} } },
      authMethods: [],
    })
  },
)

describe('session/new', () => {
  it('makes an agent of the pattern, whose id is that of the session and the name of its log, and whose folder is the cwd', async () => {
    const directory = folder()
    const { open, agent } = await host({ sessions: { directory }, config: { system: 'Be brief.', maxTokens: 9 } })
    const id = await open(directory)
    expect(agent(id).options).toEqual({ provider: 'scripted', model: 'm', system: 'Be brief.', maxTokens: 9, cwd: directory })
    expect(agent(id).session.id).toBe(id)
    const [first, second] = readFileSync(join(directory, `${id}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
    expect([first, second].map((line) => JSON.parse(line as string) as unknown)).toMatchObject([
      { type: 'session/start', data: { id } },
      { type: 'acp/opened', data: { cwd: directory } },
    ])
  })

  it('refuses servers by name, and a folder that is relative, missing or a file', async () => {
    const { acp, ctx } = await host()
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    const make = (cwd: string, names: string[] = []) =>
      refusal(acp.request(methods.agent.session.new, { cwd, mcpServers: names.map((name) => ({ name, command: 'x', args: [], env: [] })) }))
    expect(await make('/', ['files', 'web "x"'])).toMatchObject({
      code: -32602,
      message: expect.stringContaining('mcpServers: "files", "web \\"x\\"": MCP servers of a client are not started here'),
      data: { mcpServers: ['files', 'web "x"'] },
    })
    expect(await make('src')).toMatchObject({ code: -32602, message: expect.stringContaining('must be an absolute path, got "src"') })
    for (const cwd of ['/no/such/folder', file])
      expect(await make(cwd)).toMatchObject({
        code: -32602,
        message: expect.stringContaining(`must be a folder that exists, got "${cwd}"`),
      })
    expect(ctx.agentLoop.list()).toEqual([])
  })

  it('says why no agent could be made', async () => {
    const directory = folder()
    const { open } = await host({ sessions: { directory } })
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')
    expect(await refusal(open('/'))).toMatchObject({ code: -32603, data: { code: 'SESSION_READ_FAILED' } })
  })
})

describe('session/load', () => {
  const script = [{ text: 'I look.', calls: [{ name: 'look', arguments: {} }] }, { text: 'Seen.' }, { text: 'Again.' }]
  const tools = [tool('look', () => 'a view')]
  const story = [
    'user: hello',
    'says: I look.',
    'call call_1 pending: look {}',
    'call call_1 in_progress',
    'call call_1 completed: a view',
    'says: Seen.',
  ]

  it('tells all that the log of an earlier process holds, before it answers, and goes on with it', async () => {
    const directory = folder()
    const first = await host({ sessions: { directory }, script, tools })
    const id = await first.open(directory)
    await first.prompt(id, 'hello')
    await first.harness.dispose()

    const { acp, frames, updates, prompt, agent } = await host({ sessions: { directory }, script: script.slice(2), tools })
    expect(await acp.request(methods.agent.session.load, { sessionId: id, cwd: '/', mcpServers: [] })).toEqual({})
    expect(told(updates())).toEqual(story)
    expect(frames.at(-1)).toMatchObject({ result: {} })
    expect(agent(id).options.cwd).toBe('/')
    expect(await prompt(id, 'and now?')).toEqual({ stopReason: 'end_turn' })
    expect(told(updates()).slice(story.length)).toEqual(['says: Again.'])
  })

  it('of a session that is open tells it again, and what comes later once', async () => {
    const { acp, open, prompt, updates } = await host({ script, tools })
    const id = await open()
    await prompt(id, 'hello')
    await acp.request(methods.agent.session.load, { sessionId: id, cwd: process.cwd(), mcpServers: [] })
    expect(told(updates())).toEqual([...story.slice(1), ...story])
    await prompt(id, 'and now?')
    expect(told(updates()).slice(2 * story.length - 1)).toEqual(['says: Again.'])
  })

  it('of a live agent of the composition takes it over; where that works cannot be changed, and it stays when the client leaves', async () => {
    const { acp, harness, prompt, input, updates } = await host({ script: [{ text: 'Hello.' }, { text: 'Yes.' }] })
    const agent = harness.agent({ id: 'desk' })
    const load = (cwd: string) => acp.request(methods.agent.session.load, { sessionId: 'desk', cwd, mcpServers: [] })
    expect(await refusal(load('/'))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('session "desk" is open and works in'),
    })
    await load(process.cwd())
    await prompt('desk', 'hi')
    expect(told(updates())).toEqual(['says: Hello.'])
    input.end()
    await (harness.ctx.get('frontend') as Frontend).closed
    await harness.say(agent, 'still there?')
    expect(turnEnds(agent)).toEqual(['completed', 'completed'])
    expect(harness.ctx.agentLoop.list()).toEqual([agent])
  })

  it('refuses what is not there, what is no id, what is open elsewhere, and a child', async () => {
    const directory = folder()
    const { acp, harness, open } = await host({ sessions: { directory } })
    const load = (sessionId: string) => refusal(acp.request(methods.agent.session.load, { sessionId, cwd: process.cwd(), mcpServers: [] }))
    expect(await load('nobody')).toMatchObject({ code: -32002, data: { sessionId: 'nobody', code: 'SESSION_NOT_FOUND' } })
    expect(await load('../x')).toMatchObject({ code: -32602, data: { code: 'BAD_SESSION_ID' } })
    harness.ctx.sessions.create('held')
    expect(await load('held')).toMatchObject({ code: -32603, data: { code: 'SESSION_OPEN' } })
    const id = await open()
    const parent = harness.ctx.agentLoop.list()[0]!
    parent.ctx.agentLoop.create('child' as never, { provider: 'scripted', model: 'm' })
    expect(await load('child')).toMatchObject({ code: -32602, message: expect.stringContaining(`session "child" is the child of "${id}"`) })
  })
})

describe('session/list', () => {
  it('names the conversations, the latest first, with folder, title and time; a client may ask for a folder', async () => {
    const directory = folder()
    const { acp, open, prompt, harness, agent } = await host({ sessions: { directory }, script: [{ text: 'a' }, { text: 'b' }] })
    const [one, two] = [await open('/'), await open('/usr')]
    await prompt(one, 'first  words')
    agent(two).ctx.agentLoop.create('child' as never, { provider: 'scripted', model: 'm' })
    harness.agent({ id: 'desk' })
    const list = async (cwd?: string) => (await acp.request(methods.agent.session.list, { ...(cwd !== undefined && { cwd }) })).sessions
    const all = await list()
    expect(new Map(all.map(({ sessionId, cwd, title }) => [sessionId, [cwd, title]]))).toEqual(
      new Map([
        [one, ['/', 'first words']],
        [two, ['/usr', undefined]],
        ['desk', [process.cwd(), undefined]],
      ]),
    )
    expect(all.map(({ updatedAt }) => Date.parse(updatedAt as string))).toSatisfy((times: number[]) =>
      times.every((time, index) => index === 0 || time <= (times[index - 1] as number)),
    )
    expect((await list('/usr')).map(({ sessionId }) => sessionId)).toEqual([two])
    expect(await list('/nowhere')).toEqual([])
  })

  it('comes in pages, of which none repeats or misses a session, also when one has grown', async () => {
    const { acp, harness } = await host()
    const ids = Array.from({ length: 120 }, (_, index) => `s${String(index).padStart(3, '0')}`)
    for (const id of ids) harness.agent({ id })
    const seen: string[] = []
    let cursor: string | null | undefined
    let pages = 0
    do {
      const page = await acp.request(methods.agent.session.list, cursor ? { cursor } : {})
      seen.push(...page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
      pages++
    } while (cursor)
    expect(pages).toBe(3)
    expect(seen.toSorted()).toEqual(ids)
    expect(await refusal(acp.request(methods.agent.session.list, { cursor: 'guess' }))).toMatchObject({ code: -32602 })
  })
})
