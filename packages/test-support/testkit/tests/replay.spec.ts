import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import Loader from '@deepseek-ai/cordis-plugin-loader'
import type { Agent } from '@loopguard/agent-loop'
import { type ContentBlock, createUserMessage, type Message, SessionId, text } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { createHarness, type Harness, type HarnessPlugin } from '@loopguard/testkit'
import * as replay from '@loopguard/testkit/replay'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'loopguard-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const call = (id: string, name = 'look', args = '{}'): object => ({ id, type: 'function', function: { name, arguments: args } })
const says = (content: unknown, ...calls: object[]): object => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && { tool_calls: calls }),
})
const hears = (content: unknown): object => ({ role: 'user', content })
const gives = (id: string, content: unknown): object => ({ role: 'tool', tool_call_id: id, content })

function file(...messages: object[]): string {
  const path = join(folder, 'x.json')
  writeFileSync(path, JSON.stringify(messages))
  return path
}

interface Played extends Harness {
  readonly replayed: Agent
}

async function play(
  messages: readonly object[],
  plugins: readonly HarnessPlugin[] = [],
  config: Partial<replay.Config> = {},
): Promise<Played> {
  const harness = await createHarness({ plugins: [...plugins, [replay, { transcript: file(...messages), ...config }]] })
  const [replayed] = harness.ctx.agentLoop.list()
  if (replayed === undefined) throw new Error('the replay made no agent')
  await replayed.whenIdle()
  return Object.assign(harness, { replayed })
}

const show = (content: readonly ContentBlock[]): string =>
  content
    .map((block) => {
      if (block.type === 'tool-call') return `${block.name}(${block.arguments})`
      return block.type === 'tool-result' ? `= ${block.isError === true ? '! ' : ''}${show(block.content)}` : block.text
    })
    .join(' ')

/** The log as one line for each message and each turn. */
function told(agent: Agent): string[] {
  const line = (event: SessionEvent): string[] => {
    const of = (message: Message): string[] => [`${message.source.kind}: ${show(message.content)}`]
    if (event.type === 'user/message') return of(event.data)
    if (event.type === 'assistant/message' || event.type === 'tool/result') return of(event.data.message)
    return event.type === 'turn/end' ? [`-- ${event.data.reason.kind}`] : []
  }
  return agent.session.events.flatMap(line)
}

describe('a replay', () => {
  it('gives the answers in order, the results by their call, and the user’s messages at their places', async () => {
    await using harness = await play([
      { role: 'system', content: 'be brief' },
      hears('first'),
      hears('and second'),
      says('looking', call('c1'), call('c2', 'list', '{"a":1}')),
      gives('c2', 'a list'),
      gives('c1', 'a look'),
      hears('hurry'),
      says('done'),
      hears('thanks'),
      { role: 'system', content: 'be kind' },
      says('welcome'),
    ])
    expect(told(harness.replayed)).toEqual([
      'user: first',
      'user: and second',
      'model: looking look({}) list({"a":1})',
      'tool: = a look',
      'tool: = a list',
      'user: hurry',
      'model: done',
      '-- completed',
      'user: thanks',
      'plugin: be kind',
      'model: welcome',
      '-- completed',
    ])
    expect(harness.replayed.options).toMatchObject({ provider: 'replay', model: 'recorded', system: 'be brief' })
    expect(harness.log).toEqual([])
  })

  it('keeps an id that comes back apart, within one answer and over many', async () => {
    await using harness = await play([
      hears('go'),
      says(null, call('c', 'a'), call('c', 'a')),
      gives('c', 'one'),
      gives('c', 'two'),
      says(null, call('c', 'a')),
      gives('c', 'three'),
      says('end'),
    ])
    expect(told(harness.replayed).filter((line) => line.startsWith('tool'))).toEqual(['tool: = one', 'tool: = two', 'tool: = three'])
  })

  it('says so where no result was recorded', async () => {
    await using harness = await play([hears('go'), says(null, call('c')), says('well')])
    expect(told(harness.replayed)).toContain('tool: = ! Error: the transcript holds no result for call "c" of tool "look"')
    expect(harness.replayed.session.events.find(({ type }) => type === 'tool/result')?.data).toMatchObject({
      error: { code: 'NO_RECORDED_RESULT' },
    })
  })

  it('fails where the transcript says so, or its text, told by an expression', async () => {
    const messages = [
      hears('go'),
      says(null, call('c1'), call('c2'), call('c3')),
      { ...gives('c1', 'Error: no such file'), is_error: true },
      gives('c2', 'ran\n[exit code: 2]'),
      gives('c3', 'says [exit code: 2]'),
      says('end'),
    ]
    await using harness = await play(messages, [], { errors: '^\\[exit code: ' })
    expect(told(harness.replayed).filter((line) => line.startsWith('tool'))).toEqual([
      'tool: = ! Error: no such file',
      'tool: = ! Error: ran\n[exit code: 2]',
      'tool: = says [exit code: 2]',
    ])
    await using plain = await play(messages)
    expect(told(plain.replayed)).toContain('tool: = ran\n[exit code: 2]')
  })

  it('refuses an expression that is none', async () => {
    await expect(play([hears('go')], [], { errors: '(' })).rejects.toThrow(
      'replay: `errors` must be a regular expression: Invalid regular expression',
    )
  })

  it('sends malformed arguments as they were recorded', async () => {
    await using harness = await play([hears('go'), says(null, call('c', 'look', '{"a":')), gives('c', 'fine'), says('end')])
    expect(told(harness.replayed)).toContain('tool: = fine')
  })

  it.each([
    [
      'tool results',
      [hears('go'), says(null, call('c')), gives('c', 'x')],
      ['user: go', 'model: look({})', 'tool: = x', 'model: ', '-- completed'],
    ],
    [
      'a user’s message',
      [hears('go'), says('yes'), hears('more')],
      ['user: go', 'model: yes', '-- completed', 'user: more', 'model: ', '-- completed'],
    ],
    ['nothing but a question', [hears('go')], ['user: go', 'model: ', '-- completed']],
  ])('ends where a transcript breaks off after %s', async (_, messages, expected) => {
    await using harness = await play(messages)
    expect(told(harness.replayed)).toEqual(expected)
  })

  it('can start in the middle of a conversation', async () => {
    await using harness = await play([says(null, call('c')), gives('c', 'x'), says('end')])
    expect(told(harness.replayed)[0]).toBe('plugin: (The transcript does not start with a user message.)')
    expect(told(harness.replayed).at(-1)).toBe('-- completed')
  })

  it('gives a retried call the same result', async () => {
    const again = {
      name: 'again',
      apply: (ctx: Context) =>
        void ctx.on('tools/execute', async (_exec, next) => {
          await next()
          return next()
        }),
    }
    await using harness = await play([hears('go'), says(null, call('c')), gives('c', 'x'), says('end')], [again])
    expect(told(harness.replayed)).toContain('tool: = x')
  })

  it('goes on with the right results after a call that was denied', async () => {
    let calls = 0
    const deny = {
      name: 'deny',
      apply: (ctx: Context) =>
        void ctx.on('tools/pre-execute', (_exec, next) =>
          ++calls === 1 ? Promise.resolve({ kind: 'deny', reason: 'no' } as const) : next(),
        ),
    }
    await using harness = await play(
      [hears('go'), says(null, call('c')), gives('c', 'one'), says(null, call('c')), gives('c', 'two'), says('end')],
      [deny],
    )
    expect(told(harness.replayed).filter((line) => line.startsWith('tool'))).toEqual(['tool: = ! Error: no', 'tool: = two'])
  })

  it.each([
    ['a tool runs', 'tool/call', [hears('go'), says(null, call('c')), gives('c', 'x'), says('on'), hears('more'), says('end')]],
    ['an answer ends', 'assistant/message', [hears('go'), says('yes'), hears('more'), says('end')]],
  ])('stops when its agent is cancelled while %s, whatever other agents do then', async (_, moment, messages) => {
    const cancel = {
      name: 'cancel',
      apply: (ctx: Context) =>
        void ctx.on('session/event', ({ id }, { type }) => {
          if (id === 'replay' && type === moment) ctx.root.agentLoop.get(SessionId('replay'))?.cancel()
        }),
    }
    await using harness = await play(messages, [cancel])
    harness.model.push({ text: 'mine' })
    await harness.say(harness.agent(), 'hello')
    await harness.replayed.whenIdle()
    expect(told(harness.replayed).filter((line) => /^user|^--/.test(line))).toEqual(['user: go', '-- aborted'])
  })

  it('keeps its tools to its own agent', async () => {
    await using harness = await play([hears('go'), says(null, call('c')), gives('c', 'x')])
    expect(harness.ctx.tools.get('look')).toBeUndefined()
    expect(harness.ctx.tools.get('look', harness.replayed)?.parameters).toEqual({})
  })

  it('is gone, with its agent and its provider, once it is unloaded', async () => {
    await using harness = await createHarness()
    const fiber = await harness.ctx.plugin(replay, { provider: 'replay', transcript: file(hears('go'), says('yes')) })
    expect(harness.ctx.agentLoop.list()).toHaveLength(1)
    await fiber.dispose()
    expect(harness.ctx.agentLoop.list()).toEqual([])
    harness.ctx.llm.registerAdapter(['replay'], harness.model)
  })
})

describe('the plugin', () => {
  it('names its agent after its provider, or with a number when that session exists already', async () => {
    await using harness = await createHarness({
      plugins: [{ name: 'before', inject: ['sessions'], apply: (ctx: Context) => void ctx.sessions.create('tape') }],
    })
    await harness.ctx.plugin(replay, { provider: 'tape', transcript: file(hears('go'), says('yes')) })
    expect(harness.ctx.agentLoop.list().map(({ id }) => id)).toEqual(['tape-2'])
  })

  it('reads its transcript relative to the composition', async () => {
    file(hears('go'), says('yes'))
    await using harness = await createHarness()
    harness.ctx.baseUrl = `${pathToFileURL(folder).href}/`
    await harness.ctx.plugin(replay, { provider: 'replay', transcript: 'x.json' })
    const agent = harness.ctx.agentLoop.get(SessionId('replay'))
    await agent?.whenIdle()
    expect(agent && told(agent)).toContain('model: yes')
  })

  it('waits, where there is a loader, until every row is active', async () => {
    await using harness = await createHarness({ plugins: [Loader] })
    await harness.ctx.plugin(replay, { provider: 'replay', transcript: file(hears('go'), says('yes')) })
    const agent = harness.ctx.agentLoop.get(SessionId('replay'))
    expect(agent?.status).toBe('idle')
    harness.ctx.emit('loopguard/ready')
    expect(agent?.status).toBe('running')
    await agent?.whenIdle()
  })

  it.each([
    [{ transcript: 'none.json' }, 'none.json: cannot be read'],
    [{ transcirpt: 'x.json' }, 'replay: unknown key `transcirpt`, did you mean `transcript`?'],
    [{ transcript: null }, 'replay: `transcript` is null'],
    [{ transcript: '' }, 'replay: `transcript` must be the path of a file, got ""'],
  ])('refuses %j', async (config, expected) => {
    await using harness = await createHarness()
    await expect(harness.ctx.plugin(replay, config as unknown as replay.Config)).rejects.toThrow(expected)
  })

  it('leaves other agents and their messages alone', async () => {
    await using harness = await play([hears('go'), says('yes')])
    harness.model.push({ text: 'mine' })
    const other = harness.agent()
    other.followup(createUserMessage({ content: [text('hello')], source: { kind: 'user' } }))
    await other.whenIdle()
    expect(told(other)).toEqual(['user: hello', 'model: mine', '-- completed'])
  })
})
