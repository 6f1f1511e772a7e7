import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { CallId, createUserMessage, text, type UserMessage } from '@loopguard/llm'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as guard from '@loopguard/repeated-failure-reminder'
import { createHarness, type Harness, type HarnessPlugin } from '@loopguard/testkit'
import type { PostToolDecision, ToolDefinition, ToolExecutionInput, ToolExecutionResult } from '@loopguard/tools'

/**
 * A trace is words, each a step: its letters are the calls of the step, in one batch. A small letter succeeds and a capital fails, each with
 * the words of its letter; `1` to `9` are failures of the call `a` with that error.
 */
export function callOf(letter: string): { readonly name: string; readonly arguments: unknown } {
  if (/\d/.test(letter)) return { name: 'a', arguments: {} }
  return { name: letter.toLowerCase(), arguments: {} }
}

/** What the next calls of the tools come to, in order. */
export interface Stage extends Harness {
  readonly outcomes: string[]
}

const named = (name: string, execute: ToolDefinition['execute'], rest: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: '',
  parameters: {},
  execute,
  ...rest,
})

export const both = [repeatToolReminder, guard] as const

/** The whole host with the guard in it, alone or with others, and tools `a`, `b`, … that do as the trace says. */
export async function stage(plugins: readonly HarnessPlugin[] = [guard], invariants = true, directory?: string): Promise<Stage> {
  const harness = await createHarness({ plugins, invariants, ...(directory !== undefined && { sessions: { directory } }) })
  const outcomes: string[] = []
  for (const name of 'abcxyz') {
    harness.ctx.tools.register(
      named(name, () => {
        const outcome = outcomes.shift() ?? name
        if (/[a-z]/.test(outcome)) return outcome
        throw new Error(/\d/.test(outcome) ? `error ${'zero one two three four'.split(' ')[Number(outcome)]}` : `no ${outcome}`)
      }),
    )
  }
  return Object.assign(harness, { outcomes })
}

export function userMessage(): UserMessage {
  return createUserMessage({ content: [text('go')], source: { kind: 'user' } })
}

export function pluginMessage(): UserMessage {
  return createUserMessage({ content: [text('go on')], source: { kind: 'plugin', plugin: 'other' } })
}

/** Lets the model of the agent make the calls of a trace. `U` begins a turn with a message of the user, `P` with one of a plugin. */
export async function play(harness: Stage, agent: Agent, trace: string, first: 'U' | 'P' = 'U'): Promise<void> {
  let starter = first
  let steps: string[] = []
  const turn = async (): Promise<void> => {
    for (const word of steps) {
      harness.outcomes.push(...Array.from(word))
      harness.model.push({ calls: Array.from(word, callOf) })
    }
    harness.model.push({ text: 'done' })
    agent.followup(starter === 'U' ? userMessage() : pluginMessage())
    await agent.whenIdle()
  }
  for (const word of trace.split(' ')) {
    if (word !== 'U' && word !== 'P') {
      steps.push(word)
      continue
    }
    if (steps.length > 0) await turn()
    starter = word
    steps = []
  }
  await turn()
}

/** The log of an agent: a letter for each result, capitals for errors; `!` for a reminder of failures, `?` for one of repeated calls. */
export function heard(agent: Agent): string {
  const names = new Map<string, string>()
  const words: string[] = []
  for (const { type, data } of agent.session.events) {
    if (type === 'step/start') words.push(' ')
    if (type === 'tool/call') names.set(data.callId, data.name)
    if (type === 'tool/result') {
      const [block] = data.message.content
      const name = names.get(data.message.source.callId) ?? '?'
      words.push(block.isError === true ? name.toUpperCase() : name)
    }
    if (type === 'user/message') words.push(isReminder(data) ? '!' : isRepeatReminder(data) ? '?' : '')
  }
  return words.join('').trim().replaceAll(/ +/g, ' ')
}

export const isReminder = ({ source }: UserMessage): boolean => source.kind === 'plugin' && source.plugin === 'repeated-failure-reminder'
export const isRepeatReminder = ({ source }: UserMessage): boolean => source.kind === 'plugin' && source.plugin === 'repeat-tool-reminder'

export function textOf(message: UserMessage): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '?')).join('')
}

let calls = 0

/** One call through the pipeline, past the loop. */
export function execute(
  ctx: Context,
  call: { readonly name: string; readonly arguments: unknown },
  rest: Partial<Pick<ToolExecutionInput, 'agent' | 'parent' | 'signal'>> = {},
): Promise<ToolExecutionResult> {
  return ctx.tools.execute({ ...call, callId: CallId(`direct-${++calls}`), signal: new AbortController().signal, ...rest })
}

/** The stage `tools/post-execute` alone, on Cordis' own waterfall, as a foreign host may run it. */
export function postExecute(ctx: Context, exec: unknown, result: unknown, decision: () => unknown): Promise<PostToolDecision> {
  return (ctx.events.waterfall as (...args: unknown[]) => unknown).call(
    ctx.events,
    'tools/post-execute',
    exec,
    result,
    decision,
  ) as Promise<PostToolDecision>
}

export function preStep(ctx: Context, event: unknown, decision: () => unknown = () => ({ kind: 'enter' })): unknown {
  return (ctx.events.waterfall as (...args: unknown[]) => unknown).call(ctx.events, 'agent/pre-step', event, decision)
}
