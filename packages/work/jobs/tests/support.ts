import type { Agent } from '@loopguard/agent-loop'
import Jobs, { type Config, type JobEnd, type JobOwner } from '@loopguard/jobs'
import * as jobsInvariant from '@loopguard/jobs/invariant'
import * as jobsTools from '@loopguard/jobs/tools'
import { CallId, type UserMessage } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { createHarness, type Harness, type HarnessOptions, type HarnessPlugin } from '@loopguard/testkit'
import type { ToolAgent, ToolExecutionResult } from '@loopguard/tools'
import { onTestFinished } from 'vitest'

export interface JobsOptions extends HarnessOptions {
  readonly jobs?: Partial<Config>
  readonly jobTools?: Partial<jobsTools.Config>
}

/** A whole host with the service, its tools and its companion; it unloads with the test, which fails when a contract was broken. */
export async function jobsHost({ jobs, jobTools, plugins = [], ...options }: JobsOptions = {}): Promise<Harness> {
  const mine: HarnessPlugin[] = [[Jobs, jobs], jobsInvariant, [jobsTools, jobTools]]
  const harness = await createHarness({ ...options, plugins: [...mine, ...plugins] })
  onTestFinished(() => harness.dispose())
  return harness
}

/** A job whose work is the test. */
export class Work {
  readonly id: string
  /** What it was asked to end with. */
  readonly cancelled: (string | undefined)[] = []
  private printed = ''
  private settle!: (end: JobEnd | PromiseLike<JobEnd>) => void

  constructor({ ctx }: Pick<Harness, 'ctx'>, owner: JobOwner, { kind = 'test', label = 'a test' } = {}) {
    const done = new Promise<JobEnd>((resolve) => (this.settle = resolve))
    const cancel = (reason?: string): void => {
      this.cancelled.push(reason)
      this.settle({ status: 'killed', detail: 'on request' })
    }
    const readOutput = (from: number) => ({ text: this.printed.slice(from), end: this.printed.length })
    this.id = ctx.jobs.start({ kind, label, owner, run: () => ({ cancel, done, readOutput }) })
  }

  print(text: string): void {
    this.printed += text
  }

  /** It has ended, and all that hangs on that has happened as far as it needs no time. */
  async end(end: JobEnd | Promise<JobEnd> = { status: 'completed', detail: 'exit code: 0' }): Promise<void> {
    this.settle(end)
    await turns()
  }
}

/** Lets promises settle that wait for nothing but each other. */
export const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

let calls = 0

/** One call of a tool, as somebody else than the loop makes it. */
export function call(
  { ctx }: Pick<Harness, 'ctx'>,
  tool: string,
  args: object,
  { signal = new AbortController().signal, agent }: { signal?: AbortSignal; agent?: ToolAgent } = {},
): Promise<ToolExecutionResult> {
  return ctx.tools.execute({ callId: CallId(`direct-${++calls}`), name: tool, arguments: args, signal, agent })
}

export const textOf = ({ content }: { readonly content: readonly { readonly type: string; readonly text?: string }[] }): string =>
  content.map((block) => block.text ?? block.type).join('')

/** The entry of a script that makes these calls. */
export const makes = (...made: readonly (readonly [name: string, args: object])[]) => ({
  calls: made.map(([name, args]) => ({ name, arguments: args })),
})

/** What the log says, in a line an event; what is the same in every log left out. */
export function story({ session }: Agent): string[] {
  return session.events.flatMap((event) => lineOf(event) ?? [])
}

function lineOf({ type, data }: SessionEvent): string | undefined {
  switch (type) {
    case 'user/message':
      return data.source.kind === 'user'
        ? `user: ${textOf(data)}`
        : `told: ${/job (\S+) \(.*\) has ended with the status (.*);/.exec(textOf(data))?.slice(1).join(' ')}`
    case 'assistant/message':
      return data.message.content.some((block) => block.type === 'text') ? `model: ${textOf(data.message)}` : undefined
    case 'tool/call':
      return `call: ${data.name} ${data.arguments}`
    case 'tool/result':
      return `result${data.error === undefined ? '' : ` ${data.error.code}`}: ${textOf(data.message.content[0])}`
    case 'turn/end':
      return `end: ${data.reason.kind}`
    case 'job/start':
      return `start ${data.id}`
    case 'job/end':
      return `over ${data.id} ${data.status}`
    default:
      return undefined
  }
}

/** The notices in the log, by what became of them. */
export function notices({ session }: Agent): { readonly queued: number; readonly read: number } {
  const isNotice = ({ source }: UserMessage): boolean => source.kind === 'plugin' && source.plugin === 'jobs'
  const ids = session.events.flatMap(({ type, data }) => (type === 'inbox/queued' && isNotice(data.message) ? [data.message.id] : []))
  const read = session.events.filter(({ type, data }) => type === 'user/message' && isNotice(data))
  return { queued: new Set(ids).size, read: read.length }
}
