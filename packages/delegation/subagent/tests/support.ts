import type { Agent } from '@loopguard/agent-loop'
import Jobs from '@loopguard/jobs'
import * as jobsInvariant from '@loopguard/jobs/invariant'
import * as jobTools from '@loopguard/jobs/tools'
import { CallId, LlmAdapter, type LlmRequest, type Message, type StreamChunk } from '@loopguard/llm'
import type { Session, SessionEvent } from '@loopguard/session'
import Subagents, { type Config } from '@loopguard/subagent'
import { createHarness, type Harness, type HarnessOptions, ScriptedModel, type ScriptEntry, type ScriptedReply } from '@loopguard/testkit'
import type { ToolAgent, ToolDefinition, ToolExecutionResult } from '@loopguard/tools'
import { expect, onTestFinished } from 'vitest'

/** A model that plays each agent by a script of its own. An agent without one says `done`. */
export class Cast extends LlmAdapter {
  readonly requests: LlmRequest[] = []
  private readonly scripts = new Map<string, ScriptEntry[]>()
  private calls = 0

  /** What the agent of this id answers next, one entry a request. */
  play(id: string, ...entries: readonly ScriptEntry[]): void {
    this.scripts.set(id, [...(this.scripts.get(id) ?? []), ...entries])
  }

  async *stream(request: LlmRequest): AsyncGenerator<StreamChunk, void, undefined> {
    this.requests.push(request)
    const next = this.scripts.get(request.sessionId)?.shift() ?? { text: 'done' }
    const reply = typeof next === 'function' ? await next(request, this.requests.length) : next
    yield* new ScriptedModel([this.named(reply)]).stream(request)
  }

  of(id: string): LlmRequest[] {
    return this.requests.filter(({ sessionId }) => sessionId === id)
  }

  private named(reply: ScriptedReply): ScriptedReply {
    if (typeof reply !== 'object' || !('calls' in reply)) return reply
    return { ...reply, calls: (reply.calls ?? []).map((call) => ({ id: `call_${++this.calls}`, ...call })) }
  }
}

export interface Stage {
  readonly harness: Harness
  readonly cast: Cast
  readonly parent: Agent
}

export interface StageOptions extends HarnessOptions {
  readonly config?: Partial<Config>
  readonly jobs?: boolean
  /** `false` makes no agent: the test resumes one. */
  readonly main?: false
}

/** A host with sub-agents and an agent `main`; the companions watch, and the disposal fails when a contract was broken. */
export async function stage({ config, jobs = false, main, plugins = [], ...options }: StageOptions = {}): Promise<Stage> {
  const cast = new Cast()
  const withJobs = jobs ? [Jobs, jobsInvariant, jobTools] : []
  const harness = await createHarness({ adapter: cast, ...options, plugins: [...withJobs, [Subagents, config], ...plugins] })
  onTestFinished(() => harness.dispose())
  return { harness, cast, parent: main === false ? (undefined as never) : harness.agent({ id: 'main' }) }
}

/** The entry of a script that asks for children, one for each prompt. */
export const asks = (...prompts: readonly string[]) => ({
  calls: prompts.map((prompt) => ({ name: 'subagent', arguments: { description: prompt, prompt } })),
})

export const uses = (name: string, args: object = {}) => ({ calls: [{ name, arguments: args }] })

export const tool = (name: string, execute: ToolDefinition['execute'] = () => 'ok'): ToolDefinition => ({
  name,
  description: '',
  parameters: {},
  isConcurrencySafe: () => true,
  execute,
})

/** The results in a log: what the model reads of each, and the code of a failure. */
export function results({ session }: { readonly session: Pick<Session, 'events'> }): { text: string; code?: string | undefined }[] {
  return session.events.flatMap(({ type, data }) =>
    type === 'tool/result' ? [{ text: wordsOf(data.message.content[0].content), ...(data.error && { code: data.error.code }) }] : [],
  )
}

export const wordsOf = (content: Message['content']): string =>
  content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')

/** The logs of all sessions that a host opens from now on, in order. They stay readable when the session has closed. */
export function logsOf({ ctx }: Harness): Map<string, readonly SessionEvent[]> {
  const logs = new Map<string, readonly SessionEvent[]>()
  ctx.on('session/event', (session) => void logs.set(session.id, session.events))
  return logs
}

/** A log in which every turn and step has its end and every call one result. */
export function expectWhole(events: readonly SessionEvent[]): void {
  const count = (type: SessionEvent['type']): number => events.filter((event) => event.type === type).length
  expect(count('turn/end')).toBe(count('turn/start'))
  expect(count('step/end')).toBe(count('step/start'))
  const asked = events.flatMap(({ type, data }) =>
    type === 'assistant/message' ? data.message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])) : [],
  )
  const answered = events.flatMap(({ type, data }) => (type === 'tool/result' ? [data.message.source.callId] : []))
  expect(answered.toSorted()).toEqual(asked.toSorted())
}

/** How the last turn of a log ended: `completed`, `aborted by parent`. */
export function endOf(events: readonly SessionEvent[]): string {
  const end = events.findLast((event): event is SessionEvent<'turn/end'> => event.type === 'turn/end')
  if (end === undefined) return 'no turn'
  const { reason } = end.data
  return reason.kind === 'aborted' ? `aborted by ${reason.reason.kind}` : reason.kind
}

let direct = 0

/** One call of a tool that does not come from the loop. */
export function call(
  { ctx }: Pick<Harness, 'ctx'>,
  name: string,
  args: object,
  { agent, signal = new AbortController().signal }: { agent?: ToolAgent; signal?: AbortSignal } = {},
): Promise<ToolExecutionResult> {
  return ctx.tools.execute({ callId: CallId(`direct-${++direct}`), name, arguments: args, agent, signal })
}

/** Lets promises settle that wait for nothing but each other. */
export const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export const ids = ({ ctx }: Harness): string[] => ctx.agentLoop.list().map(({ id }) => id)
