import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { CallId, createUserMessage, text, type UserMessage } from '@loopguard/llm'
import { createHarness, type Harness, type HarnessPlugin } from '@loopguard/testkit'
import type { PostToolDecision, ToolDefinition, ToolExecutionInput, ToolExecutionResult } from '@loopguard/tools'
import * as reminder from '@loopguard/repeat-tool-reminder'

export interface Call {
  readonly name: string
  readonly arguments: unknown
}

/** What the traces of `DEFECTS` are written in. */
export const CALLS = {
  A: { name: 'look', arguments: { at: 'a' } },
  B: { name: 'look', arguments: { at: 'b' } },
  /** As long as the guard is told to leave `note_*` out. */
  X: { name: 'note_down', arguments: { text: 'x' } },
  /** Denied before it runs. */
  D: { name: 'denied', arguments: {} },
  /** Arguments that the tool's parameters refuse. */
  I: { name: 'strict', arguments: { count: 'many' } },
  /** Arguments that are no JSON. */
  M: { name: 'look', arguments: '{"a":1' },
  /** A tool that nobody has. */
  N: { name: 'nobody', arguments: {} },
  /** A tool that throws. */
  T: { name: 'throws', arguments: {} },
  /** A tool that ends the turn. */
  C: { name: 'conclude', arguments: {} },
  /** A tool that makes call A, and nothing else, by itself. */
  O: { name: 'outer', arguments: {} },
} satisfies Record<string, Call>

export type Letter = keyof typeof CALLS

const strict = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] }

function tool(name: string, execute: ToolDefinition['execute'], rest: Partial<ToolDefinition> = {}): ToolDefinition {
  return { name, description: '', parameters: {}, execute, ...rest }
}

export function tools(ctx: () => Context): ToolDefinition[] {
  return [
    tool('look', () => 'nothing new'),
    tool('note_down', () => 'noted'),
    tool('denied', () => 'unreachable'),
    tool('strict', () => 'unreachable', { parameters: strict }),
    tool('throws', () => {
      throw new Error('broken')
    }),
    tool('conclude', () => 'that was it', { concludesTurn: true }),
    tool('outer', async (_args, exec) => {
      const { signal, agent, token: parent } = exec
      await ctx().tools.execute({ ...CALLS.A, callId: CallId('inner'), signal, agent, parent })
      return 'done'
    }),
  ]
}

export const deny: HarnessPlugin = {
  name: 'deny',
  apply(ctx: Context) {
    ctx.on('tools/pre-execute', async (exec, next) => (exec.name === 'denied' ? { kind: 'deny', reason: 'not today' } : next()))
  },
}

/** The whole host with the guard in it, and the tools of the traces. */
export async function stage(config?: reminder.Config, plugins: readonly HarnessPlugin[] = []): Promise<Harness> {
  const harness = await createHarness({ plugins: [deny, [reminder, config], ...plugins] })
  for (const definition of tools(() => harness.ctx)) harness.ctx.tools.register(definition)
  return harness
}

export function pluginMessage(words = 'go on'): UserMessage {
  return createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'other' } })
}

/**
 * Lets the model of the agent make the calls of a trace: one step a word, the letters of a word in one batch. `text` is a step without a call,
 * which ends the turn; a `U` begins the next one with a message of the user, a `P` with one of a plugin. The first begins with a user's.
 */
export async function play(harness: Harness, agent: Agent, trace: string, first: 'U' | 'P' = 'U'): Promise<void> {
  let starter: UserMessage | undefined = first === 'U' ? userMessage() : pluginMessage()
  const turn = async (): Promise<void> => {
    if (starter === undefined) return
    harness.model.push({ text: 'done' })
    agent.followup(starter)
    starter = undefined
    await agent.whenIdle()
  }
  for (const word of trace.split(' ')) {
    if (word === 'U' || word === 'P') {
      await turn()
      starter = word === 'U' ? userMessage() : pluginMessage()
    } else {
      starter ??= pluginMessage()
      const calls = Array.from(word, (letter) => CALLS[letter as Letter])
      harness.model.push(word === 'text' ? { text: 'let me think' } : { calls })
      if (word === 'text' || /C/.test(word)) {
        agent.followup(starter)
        starter = undefined
        await agent.whenIdle()
      }
    }
  }
  await turn()
}

function userMessage(): UserMessage {
  return createUserMessage({ content: [text('go')], source: { kind: 'user' } })
}

/**
 * The log of an agent in the terms of the traces: a letter for each result, `!` for the gentle reminder and `!n` for the detailed one at n
 * calls, in the order of the log. `|` is the end of a step that made calls.
 */
export function heard(agent: Agent): string {
  const letters = new Map<string, string>()
  const words: string[] = []
  for (const { type, data } of agent.session.events) {
    if (type === 'tool/call') letters.set(data.callId, letterOf(data.name, data.arguments))
    if (type === 'tool/result') words.push(letters.get(data.message.source.callId) ?? '?')
    if (type === 'user/message' && isReminder(data)) words.push(mark(data))
  }
  return words.join(' ')
}

function letterOf(name: string, raw: string): string {
  const isIt = ([, call]: [string, Call]): boolean =>
    call.name === name && (typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)) === raw
  return Object.entries(CALLS).find(isIt)?.[0] ?? '?'
}

export function isReminder(message: UserMessage): boolean {
  return message.source.kind === 'plugin' && message.source.plugin === 'repeat-tool-reminder'
}

export function textOf(message: UserMessage): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '?')).join('')
}

export function mark(message: UserMessage): string {
  return `!${/^- consecutive_calls: (\d+)$/m.exec(textOf(message))?.[1] ?? ''}`
}

let calls = 0

/** One call through the pipeline, past the loop. */
export function execute(
  ctx: Context,
  call: Call,
  rest: Partial<Pick<ToolExecutionInput, 'agent' | 'parent' | 'signal'>> = {},
): Promise<ToolExecutionResult> {
  return ctx.tools.execute({ ...call, callId: CallId(`direct-${++calls}`), signal: new AbortController().signal, ...rest })
}

/** The stage `tools/post-execute` alone, on Cordis' own waterfall, as a foreign host may run it. */
export function postExecute(ctx: Context, exec: unknown, result: unknown, decision: () => unknown): Promise<PostToolDecision> {
  return waterfall(ctx)('tools/post-execute', exec, result, decision) as Promise<PostToolDecision>
}

export function preStep(ctx: Context, event: unknown, decision: () => unknown = () => ({ kind: 'enter' })): unknown {
  return waterfall(ctx)('agent/pre-step', event, decision)
}

function waterfall(ctx: Context): (...args: unknown[]) => unknown {
  return (ctx.events.waterfall as (...args: unknown[]) => unknown).bind(ctx.events)
}
