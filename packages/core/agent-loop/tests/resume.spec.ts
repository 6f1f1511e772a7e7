import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { createUserMessage, SessionId, text } from '@loopguard/llm'
import { userMessage } from '@loopguard/testkit'
import { eventsOf, fileHost, temporaryDirectory } from './support/host.ts'
import { story, words } from './support/story.ts'
import { tool } from './support/tools.ts'
import { veto } from './support/veto.ts'

const id = SessionId('a')
const options = { provider: 'scripted', model: 'scripted', system: 'be kind' }

/** Cuts a log after the first line that matches, as a kill at that moment would. */
async function cutAfter(directory: string, is: (type: string, line: string) => boolean): Promise<void> {
  const file = join(directory, `${id}.jsonl`)
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
  const at = lines.findIndex((line) => is((JSON.parse(line) as { type: string }).type, line))
  await writeFile(
    file,
    lines
      .slice(0, at + 1)
      .map((line) => `${line}\n`)
      .join(''),
  )
}

describe('ctx.agentLoop.resume', () => {
  it('goes on where the log ends: numbering, messages, and no second header', async () => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({
        directory: directory.path,
        script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
        tools: [tool('look')],
      })
      const agent = host.ctx.agentLoop.create(id, options)
      agent.followup(userMessage('one'))
      await agent.whenIdle()
    }
    await using host = await fileHost({ directory: directory.path, script: [{ text: 'ok' }], tools: [tool('look')] })
    const agent = await host.ctx.agentLoop.resume(id, options)
    const before = agent.session.events.length
    expect({ status: agent.status, end: story(agent.session).at(-1), listed: host.ctx.agentLoop.list() }).toEqual({
      status: 'idle',
      end: 'end 1 completed',
      listed: [agent],
    })
    agent.followup(userMessage('two'))
    await agent.whenIdle()
    expect(story(agent.session, { from: before, headers: true })).toEqual([
      'queued next-turn: two',
      'turn 2',
      'step 2.1',
      'user two',
      'claimed: two',
      'model ok',
      'end 2.1',
      'end 2 completed',
    ])
    expect(host.model.requests[0]?.messages.map(words)).toEqual(['one', '[call_1 look({})]', '<call_1>', 'seen', 'two'])
    expect(await eventsOf(directory.path, id)).toEqual(agent.session.events)
    expect(agent.session.events.map(({ seq }) => seq)).toEqual(agent.session.events.map((_event, index) => index))
  })

  it('delivers nothing that was discarded, also when the log refused to hear of it until the agent was disposed', async () => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({ directory: directory.path })
      const agent = host.ctx.agentLoop.create(id, options)
      agent.followup(userMessage('one'))
      agent.inject(userMessage('two'))
      const off = veto(host.ctx, ({ type }) => type === 'inbox/removed', { times: Infinity })
      agent.cancel()
      await agent.whenIdle()
      agent.ctx.effect(() => off)
      await agent.dispose()
      expect(story(agent.session).at(-1)).toBe('discarded: two, one')
    }
    await using host = await fileHost({ directory: directory.path })
    const agent = await host.ctx.agentLoop.resume(id, options)
    expect(agent.inbox.hasPending).toBe(false)
  })

  it('logs a header when what the model sees has changed since', async () => {
    await using directory = await temporaryDirectory()
    for (const [name, model] of [
      ['one', 'old'],
      ['two', 'new'],
    ] as const) {
      await using host = await fileHost({ directory: directory.path, script: [{ text: 'ok' }] })
      const given = { ...options, model }
      const agent = name === 'one' ? host.ctx.agentLoop.create(id, given) : await host.ctx.agentLoop.resume(id, given)
      agent.followup(userMessage(name))
      await agent.whenIdle()
    }
    expect((await eventsOf(directory.path, id)).flatMap((event) => (event.type === 'request/header' ? [event.data.model] : []))).toEqual([
      'old',
      'new',
    ])
  })

  it('what waited waits again, for the next wake and not before', async () => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({ directory: directory.path })
      const agent = host.ctx.agentLoop.create(id, options)
      agent.followup(userMessage('first'))
      agent.inject(userMessage('aside'))
      agent.followup(userMessage('second'))
      // A kill, as far as the log can tell: nothing of the disposal gets into it.
      agent.cancel({ kind: 'stop' }, { keepInbox: true })
      await agent.whenIdle()
      agent.session.close()
    }
    await using host = await fileHost({ directory: directory.path, script: [{ text: 'ok', repeat: 3 }] })
    const agent = await host.ctx.agentLoop.resume(id, options)
    await agent.whenIdle()
    expect([agent.inbox.nextStep.map(words), agent.inbox.nextTurn.map(words), agent.status]).toEqual([
      ['aside'],
      ['first', 'second'],
      'idle',
    ])
    agent.steer(agent.inbox.nextStep[0]!)
    await agent.whenIdle()
    expect(story(agent.session).filter((line) => /^(user|end \d )/.test(line))).toEqual([
      'user aside',
      'user first',
      'end 1 completed',
      'user second',
      'end 2 completed',
    ])
  })

  it.each<[string, (type: string, line: string) => boolean, string[]]>([
    ['turn/start', (type) => type === 'turn/start', ['end 1 interrupted']],
    ['step/start', (type) => type === 'step/start', ['end 1.1', 'end 1 interrupted']],
    ['user/message', (type) => type === 'user/message', ['claimed: go', 'end 1.1', 'end 1 interrupted']],
    ['the claim', (type) => type === 'inbox/removed', ['end 1.1', 'end 1 interrupted']],
    [
      'the message of the model',
      (type) => type === 'assistant/message',
      ['result call_1 failed TOOL_NOT_STARTED', 'result call_2 failed TOOL_NOT_STARTED', 'end 1.1', 'end 1 interrupted'],
    ],
    [
      'a call',
      (type) => type === 'tool/call',
      ['result call_1 failed TOOL_OUTCOME_UNKNOWN', 'result call_2 failed TOOL_NOT_STARTED', 'end 1.1', 'end 1 interrupted'],
    ],
    ['a result', (type) => type === 'tool/result', ['result call_2 failed TOOL_NOT_STARTED', 'end 1.1', 'end 1 interrupted']],
    ['the end of the step', (type) => type === 'step/end', ['end 1 interrupted']],
    ['the end of the turn', (type) => type === 'turn/end', []],
  ])('a log that was cut after %s is closed, and the conversation goes on', async (_what, is, closing) => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({
        directory: directory.path,
        script: [{ calls: ['look', 'look'].map((name) => ({ name, arguments: {} })) }, { text: 'seen' }],
        tools: [tool('look')],
      })
      const agent = host.ctx.agentLoop.create(id, options)
      agent.followup(userMessage('go'))
      await agent.whenIdle()
    }
    await cutAfter(directory.path, is)
    const kept = (await eventsOf(directory.path, id)).length
    await using host = await fileHost({ directory: directory.path, script: [{ text: 'back', repeat: 2 }], tools: [tool('look')] })
    const agent = await host.ctx.agentLoop.resume(id, options)
    expect(story(agent.session, { from: kept })).toEqual(closing)
    const pending = agent.inbox.nextTurn.map(words)
    expect(pending).toEqual(closing.length > 0 && kept <= 4 ? ['go'] : [])
    agent.followup(userMessage('and now?'))
    await agent.whenIdle()
    const after = story(agent.session, { from: kept + closing.length })
    expect(after.filter((line) => /^(user|end \d )/.test(line))).toEqual([
      ...pending.flatMap((line) => [`user ${line}`, 'end 2 completed']),
      'user and now?',
      `end ${pending.length + 2} completed`,
    ])
    expect(await eventsOf(directory.path, id)).toEqual(agent.session.events)
  })

  it('does not log a context again that stands in the log', async () => {
    await using directory = await temporaryDirectory()
    const shared = createUserMessage({ content: [text('shared')], source: { kind: 'plugin', plugin: 'p' } })
    const look = tool('look', (_args, exec) => (exec.deferContext(shared), 'ok'))
    for (const round of [1, 2]) {
      await using host = await fileHost({
        directory: directory.path,
        script: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
        tools: [look],
      })
      const agent = round === 1 ? host.ctx.agentLoop.create(id, options) : await host.ctx.agentLoop.resume(id, options)
      agent.followup(userMessage('go'))
      await agent.whenIdle()
    }
    const log = await eventsOf(directory.path, id)
    expect(log.filter(({ type, data }) => type === 'user/message' && words(data) === 'shared')).toHaveLength(1)
  })

  it('rejects for a log that cannot be read, and the id stays free for another try', async () => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({ directory: directory.path })
      host.ctx.agentLoop.create(id, options)
    }
    await appendFile(join(directory.path, `${id}.jsonl`), 'no event\n')
    await using host = await fileHost({ directory: directory.path })
    await expect(host.ctx.agentLoop.resume(id, options)).rejects.toMatchObject({ code: 'BAD_LOG' })
    expect([host.ctx.agentLoop.list(), host.ctx.sessions.list()]).toEqual([[], []])
    await expect(host.ctx.agentLoop.resume(SessionId('nobody'), options)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })

  it('twice at once gives one agent', async () => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({ directory: directory.path })
      host.ctx.agentLoop.create(id, options)
    }
    await using host = await fileHost({ directory: directory.path })
    const outcomes = await Promise.allSettled([1, 2].map(() => host.ctx.agentLoop.resume(id, options)))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(host.ctx.agentLoop.list()).toHaveLength(1)
    expect(host.ctx.agentLoop.list()[0]?.session.closed).toBe(false)
  })

  it('an owner that goes while the log is read leaves no session open', async () => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({ directory: directory.path })
      host.ctx.agentLoop.create(id, options)
    }
    await using host = await fileHost({ directory: directory.path })
    let inner!: Context
    const owner = await host.ctx.plugin({ name: 'owner', inject: ['agentLoop'], apply: (ctx: Context) => void (inner = ctx) })
    const resumed = inner.agentLoop.resume(id, options)
    await Promise.all([expect(resumed).rejects.toThrow('cannot create effect on inactive context'), owner.dispose()])
    expect(host.ctx.sessions.list()).toEqual([])
    await host.ctx.agentLoop.resume(id, options)
  })

  it('an unloading that comes while the log is read leaves no session open', async () => {
    await using directory = await temporaryDirectory()
    {
      await using host = await fileHost({ directory: directory.path })
      host.ctx.agentLoop.create(id, options)
    }
    const host = await fileHost({ directory: directory.path })
    const resumed = host.ctx.agentLoop.resume(id, options)
    await Promise.all([expect(resumed).rejects.toMatchObject({ code: 'SESSION_STORE_CLOSED' }), host.ctx.fiber.dispose()])
    await using again = await fileHost({ directory: directory.path })
    await again.ctx.agentLoop.resume(id, options)
  })
})
