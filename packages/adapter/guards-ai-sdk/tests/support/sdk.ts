import { repeatToolReminder } from '@loopguard/guards-ai-sdk'
import { isReminder, type RepeatConfig } from '@loopguard/repeat'
import * as ai5 from 'ai5'
import { MockLanguageModelV2 } from 'ai5/test'
import * as ai6 from 'ai6'
import { MockLanguageModelV3 } from 'ai6/test'
import * as ai7 from 'ai7'
import { MockLanguageModelV4 } from 'ai7/test'
import { z } from 'zod'

export interface Call {
  readonly name: string
  /** Text is sent as it is: it may be no JSON. */
  readonly args: object | string
  readonly providerExecuted?: boolean
}
/** What the model does in each step: calls, or a text, with which it ends. */
export type Script = readonly (readonly Call[] | string)[]

export interface Message {
  readonly role: string
  readonly content: string | readonly { type: string; text?: string; toolName?: string; output?: { type: string; value: unknown } }[]
}

interface Tools {
  readonly [name: string]: unknown
}
interface Loop {
  readonly prompts: readonly (readonly Message[])[]
  /** What the SDK hands on to the next turn. */
  readonly messages: readonly unknown[]
}
interface Turn {
  readonly script: Script
  readonly tools: Tools
  readonly config?: RepeatConfig
  /** In place of the reminder. */
  readonly middleware?: readonly object[]
  readonly signal?: AbortSignal
  readonly history?: readonly unknown[]
}
export interface Driver {
  readonly title: string
  readonly run: (turn: Turn) => Promise<Loop>
}

/** What is alike in the three versions, typed as loosely as need be; that the types fit as well is the subject of types.ts. */
interface Result {
  readonly response: { messages: unknown[] } | PromiseLike<{ messages: unknown[] }>
  /** Since 7, where `response` is that of the last step. */
  readonly responseMessages?: unknown[] | PromiseLike<unknown[]>
}
interface Sdk {
  generateText(settings: object): Promise<Result>
  streamText(settings: object): Result & { consumeStream(): Promise<void> }
  wrapLanguageModel(settings: object): object
  stepCountIs(count: number): unknown
}
interface AgentClass {
  new (settings: object): { generate(turn: object): Promise<Result> }
}
interface Mock {
  new (methods: object): object
}

type Part = { type: string } & Record<string, unknown>

const versions = [
  { title: 'ai 5', sdk: ai5 as unknown as Sdk, Agent: ai5.Experimental_Agent as unknown as AgentClass, Model: MockLanguageModelV2 as Mock },
  { title: 'ai 6', sdk: ai6 as unknown as Sdk, Agent: ai6.ToolLoopAgent as unknown as AgentClass, Model: MockLanguageModelV3 as Mock },
  { title: 'ai 7', sdk: ai7 as unknown as Sdk, Agent: ai7.ToolLoopAgent as unknown as AgentClass, Model: MockLanguageModelV4 as Mock },
]

/** One that the provider of the model runs itself. */
export const providerTool = (title: string): object =>
  title.startsWith('ai 5')
    ? { type: 'provider-defined', id: 'x.search', name: 'search', args: {}, inputSchema: z.object({}) }
    : { type: 'provider', isProviderExecuted: true, id: 'x.search', args: {}, inputSchema: z.object({}) }

export const tool = (execute: unknown): unknown => ({ description: '', inputSchema: z.record(z.string(), z.unknown()), execute })

/** The script as a model of that version, which keeps the prompts that it gets. */
export function modelOf(version: string, script: Script): { model: object; prompts: Message[][] } {
  const found = versions.find(({ title }) => title === version)
  if (found === undefined) throw new Error(`there is no ${version}`)
  const prompts: Message[][] = []
  const next = ({ prompt }: { prompt: Message[] }): { parts: Part[]; end: object } => {
    const step = script[prompts.push(prompt) - 1] ?? 'done'
    return { parts: partsOf(step, prompts.length), end: endOf(version, typeof step === 'string' ? 'stop' : 'tool-calls') }
  }
  const model = new found.Model({
    doGenerate: async (options: { prompt: Message[] }) => {
      const { parts, end } = next(options)
      return { content: parts, ...end, warnings: [] }
    },
    doStream: async (options: { prompt: Message[] }) => {
      const { parts, end } = next(options)
      const streamed = parts.flatMap((part) =>
        part.type === 'text'
          ? [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: part['text'] },
              { type: 'text-end', id: '1' },
            ]
          : [part],
      )
      return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...streamed, { type: 'finish', ...end }]) }
    },
  })
  return { model, prompts }
}

function partsOf(step: Script[number], number: number): Part[] {
  if (typeof step === 'string') return [{ type: 'text', text: step }]
  return step.flatMap(({ name, args, providerExecuted }, index) => {
    const id = { toolCallId: `${number}-${index}`, toolName: name, ...(providerExecuted && { providerExecuted }) }
    const call = { type: 'tool-call', ...id, input: typeof args === 'string' ? args : JSON.stringify(args) }
    return providerExecuted === true ? [call, { type: 'tool-result', ...id, result: 'found' }] : [call]
  })
}

function endOf(version: string, reason: string): object {
  return version === 'ai 5'
    ? { finishReason: reason, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }
    : {
        finishReason: { unified: reason, raw: undefined },
        usage: { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } },
      }
}

export const drivers: Driver[] = versions.flatMap(({ title, sdk, Agent }) => {
  type Run = (settings: object, turn: object) => Promise<Result>
  const doors: Record<string, Run> = {
    generateText: (settings, turn) => sdk.generateText({ ...settings, ...turn }),
    streamText: async (settings, turn) => {
      const result = sdk.streamText({ ...settings, ...turn, onError: () => {} })
      await result.consumeStream()
      return result
    },
    'the agent': (settings, turn) => new Agent(settings).generate(turn),
  }
  return Object.entries(doors).map(([door, run]) => ({
    title: `${title}, ${door}`,
    async run({ script, tools, config, middleware = [repeatToolReminder(config)], signal, history = [] }) {
      const { model, prompts } = modelOf(title, script)
      const settings = {
        model: sdk.wrapLanguageModel({ model, middleware }),
        tools,
        stopWhen: sdk.stepCountIs(20),
        maxRetries: 0,
      }
      const result = await run(settings, { messages: [...history, { role: 'user', content: 'go' }], abortSignal: signal })
      return { prompts, messages: (await result.responseMessages) ?? (await result.response).messages }
    },
  }))
})

export function textsOf({ content }: Message): string[] {
  return typeof content === 'string' ? [content] : content.map(({ text = '' }) => text)
}

/** How many reminders each request holds. */
export function remindersIn(prompts: readonly (readonly Message[])[]): number[] {
  return prompts.map((prompt) => prompt.filter((message) => message.role === 'user' && textsOf(message).every(isReminder)).length)
}
