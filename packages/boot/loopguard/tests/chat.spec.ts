import { existsSync, readFileSync } from 'node:fs'
import { createHarness, type Harness } from '@loopguard/testkit'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import { describe, expect, it, vi } from 'vitest'
import { Chat } from '../src/chat/chat.ts'
import type { ChatScreen, ScreenHandlers } from '../src/chat/chat-screen.ts'
import { pageWriter } from '../src/chat/page.ts'
import { chatRows } from '../src/chat/rows.ts'
import type { Row } from '../src/load/rows.ts'
import { styleOf } from '../src/show/terminal.ts'

/** A screen that keeps what is printed. */
class Sheet implements ChatScreen {
  readonly lines: string[] = []
  handlers!: ScreenHandlers
  begin(handlers: ScreenHandlers): void {
    this.handlers = handlers
  }
  print(...lines: readonly string[]): void {
    this.lines.push(...lines)
  }
  update(): void {}
  takeLine = (): string => ''
  putLine(): void {}
}

const look = { name: 'look', description: '', parameters: {}, execute: () => 'seen' }
const calls = { calls: [{ name: 'look', arguments: { q: 'x' } }] }

async function talk(harness: Harness, screen: Sheet): Promise<ReturnType<Harness['agent']>> {
  const agent = harness.agent()
  const chat = new Chat({ agent, style: styleOf({ columns: 200 }, {}), screen, page: async () => {}, leave: () => {} })
  chat.attach(harness.ctx)
  return agent
}

const told = ({ lines }: Sheet): string[] => lines.slice(1).map((line) => line.replace(/\d+\.\d s/, 'N s'))

describe('a conversation', () => {
  it('tells a call once, with reminders after the calls that they follow', async () => {
    await using harness = await createHarness({ script: [{ ...calls, repeat: 3 }, { text: 'done' }], tools: [look] })
    await harness.ctx.plugin(repeatToolReminder)
    const screen = new Sheet()
    const agent = await talk(harness, screen)
    screen.handlers.line('go', undefined)
    await agent.whenIdle()
    expect(told(screen)).toEqual(['> go', ...Array.from({ length: 3 }, () => '✔ look {"q":"x"} N s  seen'), '◆ reminder: look ×3', 'done'])
  })

  it('counts equal calls as the reminder does: anew once somebody has spoken, and no arguments are empty ones', async () => {
    const look3 = [{ calls: [{ name: 'look', arguments: '' }] }, { calls: [{ name: 'look', arguments: {} }], repeat: 2 }, { text: 'done' }]
    await using harness = await createHarness({ script: [...look3, ...look3], tools: [look] })
    await harness.ctx.plugin(repeatToolReminder)
    const screen = new Sheet()
    const agent = await talk(harness, screen)
    for (const words of ['go', 'again']) {
      screen.handlers.line(words, undefined)
      await agent.whenIdle()
    }
    expect(told(screen).filter((line) => line.startsWith('◆'))).toEqual(['◆ reminder: look ×3', '◆ reminder: look ×3'])
  })

  it('tells why a turn did not complete, and what is no command', async () => {
    await using harness = await createHarness({ script: [] })
    const screen = new Sheet()
    const agent = await talk(harness, screen)
    screen.handlers.line('go', undefined)
    await agent.whenIdle()
    screen.handlers.line('/nope', undefined)
    screen.handlers.line('/cancel', undefined)
    await vi.waitFor(() => expect(screen.lines.at(-1)).toBe('nothing runs'))
    expect(told(screen)).toEqual([
      '> go',
      expect.stringMatching(/^✖ request failed: /),
      expect.stringMatching(/^turn ended: error /),
      'there is no /nope; /help says what there is',
      'nothing runs',
    ])
  })

  it('tells of messages that somebody else has sent, and what an agent says that is gone', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok', repeat: 2 }] })
    const screen = new Sheet()
    const agent = await talk(harness, screen)
    await harness.say(agent, 'from elsewhere')
    agent.inject({
      id: 'n',
      role: 'user',
      content: [{ type: 'text', text: 'job-1 has ended' }],
      source: { kind: 'plugin', plugin: 'jobs' },
    } as never)
    await harness.say(agent, 'again')
    await agent.dispose()
    screen.handlers.line('anybody?', undefined)
    expect(told(screen)).toEqual([
      '> from elsewhere',
      'ok',
      '◇ plugin jobs: job-1 has ended',
      '> again',
      'ok',
      'this agent is gone: nothing more can be said to it',
      `agent "${agent.id}" is disposed: it takes no more messages`,
    ])
  })

  it('/report draws the log as the command does, or a copy of one in memory, and says why it could not', async () => {
    await using harness = await createHarness({ script: [{ text: 'ok' }] })
    const screen = new Sheet()
    const seen: { args: readonly string[]; log: string }[] = []
    const command = vi.fn<(args: readonly string[]) => Promise<number>>(
      async (args) => (seen.push({ args, log: readFileSync(args[1] ?? '', 'utf8') }), 0),
    )
    const agent = harness.agent()
    new Chat({ agent, style: styleOf({}, {}), screen, page: pageWriter(command), leave: () => {} })
    await harness.say(agent, 'go')
    screen.handlers.line('/report', undefined)
    await vi.waitFor(() => expect(seen).toHaveLength(1))
    const { args = [], log } = seen[0] ?? {}
    expect([args[0], ...args.slice(2)]).toEqual(['report', '-o', `${agent.id}.html`])
    expect(
      log
        ?.trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(agent.session.events)
    expect(existsSync(args[1] ?? '')).toBe(false)
    command.mockRejectedValueOnce(new Error('the disk is full'))
    screen.handlers.line('/report', undefined)
    await vi.waitFor(() => expect(screen.lines.at(-1)).toBe('the disk is full'))
  })

  it('/report draws the very log of a stored session', async () => {
    const command = vi.fn<(args: readonly string[]) => Promise<number>>(async () => 0)
    await pageWriter(command)({ id: 'a', session: { location: 'logs/a.jsonl' } } as never)
    expect(command.mock.calls).toEqual([[['report', 'logs/a.jsonl', '-o', 'a.html']]])
  })
})

it.each(['print', 'update'] as const)('a display that throws on %s breaks no turn', async (method) => {
  await using harness = await createHarness({ script: [calls, { text: 'done' }], tools: [look] })
  const screen = new Sheet()
  const agent = await talk(harness, screen)
  const thrown = vi.spyOn(screen, method).mockImplementation(() => {
    throw new Error('no display')
  })
  await harness.say(agent, 'go')
  expect(thrown).toHaveBeenCalled()
  expect(agent.session.events.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'completed' } } })
})

describe('the rows of a conversation', () => {
  const row = (name: string, config?: object): Row => ({ id: `id-${name}`, name, config })
  const model = row('@loopguard/ai-sdk-model', { provider: 'mine', kind: 'deepseek' })
  const names = (rows: readonly Row[]): string[] => rows.map(({ name }) => name.replace('@loopguard/', ''))
  const agents = (rows: readonly Row[]): unknown => Object(rows.at(-1)?.config)['agents']

  it('are a whole guarded host around a model that stands alone', () => {
    const rows = chatRows([model], undefined)
    expect(names(rows)).toEqual(['llm', 'session', 'tools', 'timeout-policy', 'repeat-tool-reminder', 'ai-sdk-model', 'agent-loop'])
    expect(agents(rows)).toEqual([{ id: 'chat', provider: 'mine', model: 'deepseek-chat' }])
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  })

  it('keep what a composition has, in groups too, and ask the model that is named', () => {
    const group = { id: 'g', name: 'cordis:group', config: [row('@loopguard/session', { directory: 'logs' })] }
    const rows = chatRows([group, row('@loopguard/tools'), model], 'other')
    expect(names(rows)).toEqual(['llm', 'timeout-policy', 'repeat-tool-reminder', 'cordis:group', 'tools', 'ai-sdk-model', 'agent-loop'])
    expect(agents(rows)).toEqual([{ id: 'chat', provider: 'mine', model: 'other' }])
  })

  it('are those of a composition that has an agent loop, or may have one in another file; without the door for editors', () => {
    const loop = row('@loopguard/agent-loop')
    expect(chatRows([loop, row('@loopguard/acp')], undefined)).toEqual([loop])
    const include = row('@deepseek-ai/cordis-plugin-include', { path: 'more.yml' })
    expect(chatRows([include], undefined)).toEqual([include])
    expect(() => chatRows([loop], 'm')).toThrow('--model is for a composition without a row @loopguard/agent-loop')
  })

  it('cannot be told without a model, or without the name of one', () => {
    expect(() => chatRows([row('@loopguard/llm')], undefined)).toThrow(
      'no row of the composition is a model. A model is a row of cordis.yml',
    )
    expect(() => chatRows([row('@loopguard/ai-sdk-model', { provider: 'p', kind: 'openai-compatible' })], undefined)).toThrow(
      'which model of "p" is to be asked? --model says it',
    )
  })
})
