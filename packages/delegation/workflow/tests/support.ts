import type { Agent } from '@loopguard/agent-loop'
import { LlmAdapter, type LlmRequest, type StreamChunk } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import Subagents, { type Config as SubagentConfig } from '@loopguard/subagent'
import { createHarness, type Harness, type HarnessOptions, ScriptedModel, type ScriptedReply } from '@loopguard/testkit'
import Workflows, { type Config } from '@loopguard/workflow'
import { onTestFinished } from 'vitest'

/** A model that answers every request with what `answer` says. */
export class Answering extends LlmAdapter {
  readonly asked: string[] = []
  answer: (prompt: string, request: LlmRequest) => ScriptedReply | Promise<ScriptedReply> = (prompt) => ({ text: `did ${prompt}` })

  async *stream(request: LlmRequest): AsyncGenerator<StreamChunk, void, undefined> {
    const [block] = request.messages.at(-1)!.content
    const prompt = block?.type === 'text' ? block.text : 'a result'
    this.asked.push(prompt)
    yield* new ScriptedModel([await this.answer(prompt, request)]).stream(request)
  }
}

export interface Stage {
  readonly harness: Harness
  readonly model: Answering
  readonly parent: Agent
}

export interface StageOptions extends HarnessOptions {
  readonly config?: Partial<Config>
  readonly subagents?: Partial<SubagentConfig>
}

/** A host with workflows and an agent `main`; the companions watch, and the disposal fails when a contract was broken. */
export async function stage({ config, subagents, plugins = [], ...options }: StageOptions = {}): Promise<Stage> {
  const model = new Answering()
  const harness = await createHarness({ adapter: model, ...options, plugins: [[Subagents, subagents], [Workflows, config], ...plugins] })
  onTestFinished(() => harness.dispose())
  return { harness, model, parent: harness.agent({ id: 'main' }) }
}

export const ids = ({ ctx }: Harness): string[] => ctx.agentLoop.list().map(({ id }) => id)

/** The logs of all sessions that a host opens from now on, in order. */
export function logsOf({ ctx }: Harness): Map<string, readonly SessionEvent[]> {
  const logs = new Map<string, readonly SessionEvent[]>()
  ctx.on('session/event', (session) => void logs.set(session.id, session.events))
  return logs
}

/** `value`, or the code of what it rejects with. */
export async function codeOr<T>(value: Promise<T>): Promise<T | string> {
  try {
    return await value
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error)
  }
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

export const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
