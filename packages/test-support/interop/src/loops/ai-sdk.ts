import { Agent as MastraAgent } from '@mastra/core/agent'
import { repeatedFailureReminder, repeatToolReminder, timeLimited } from '@loopguard/guards-ai-sdk'
import * as ai5 from 'ai5'
import { MockLanguageModelV2 } from 'ai5/test'
import * as ai6 from 'ai6'
import { MockLanguageModelV3 } from 'ai6/test'
import * as ai7 from 'ai7'
import { MockLanguageModelV4 } from 'ai7/test'
import { type Guards, type Loop, remindersAmong, textsOf, type Turn } from './loop.ts'
import { broken, BUDGET, hang, look, schemas, tick } from './tools.ts'

interface Message {
  readonly role: string
  readonly content: unknown
}
interface Result {
  readonly response: { messages: unknown[] } | PromiseLike<{ messages: unknown[] }>
  /** Since 7, where `response` is that of the last step. */
  readonly responseMessages?: unknown[] | PromiseLike<unknown[]>
  consumeStream?(): PromiseLike<void>
}
type Method = (turn: object) => Result | PromiseLike<Result>
/** What the versions have alike. That the types fit as well is tested in the adapter. */
interface Sdk {
  generateText: Method
  streamText: Method
  wrapLanguageModel(options: object): object
  stepCountIs(count: number): unknown
}
type AgentClass = new (settings: object) => { generate: Method }

const versions = [
  { title: 'ai 5', sdk: ai5 as unknown as Sdk, Agent: ai5.Experimental_Agent as unknown as AgentClass, Model: MockLanguageModelV2 },
  { title: 'ai 6', sdk: ai6 as unknown as Sdk, Agent: ai6.ToolLoopAgent as unknown as AgentClass, Model: MockLanguageModelV3 },
  { title: 'ai 7', sdk: ai7 as unknown as Sdk, Agent: ai7.ToolLoopAgent as unknown as AgentClass, Model: MockLanguageModelV4 },
]
type Version = (typeof versions)[number]

const tools = {
  look: { description: '', inputSchema: schemas.look, execute: look },
  broken: { description: '', inputSchema: schemas.broken, execute: broken },
  tick: { description: '', inputSchema: schemas.tick, execute: tick },
  hang: timeLimited(
    {
      description: '',
      inputSchema: schemas.hang,
      execute: (_input: object, { abortSignal }: { abortSignal?: AbortSignal }) => hang(abortSignal),
    },
    BUDGET,
  ),
}

/** A model of that version that plays the turns, and keeps the prompts that it gets. */
function modelOf(
  { title, sdk, Model }: Version,
  turns: readonly Turn[],
  { config, failures }: Guards,
): { model: object; prompts: Message[][] } {
  const prompts: Message[][] = []
  const steps = turns.flat()
  const next = (prompt: Message[]): { parts: object[]; end: object } => {
    const step = steps[prompts.push(prompt) - 1] ?? 'done'
    if (typeof step === 'string') return { parts: [{ type: 'text', text: step }], end: endOf(title, 'stop') }
    const parts = step.map(({ name, json }, index) => ({
      type: 'tool-call',
      toolCallId: `${prompts.length}-${index}`,
      toolName: name,
      input: json,
    }))
    return { parts, end: endOf(title, 'tool-calls') }
  }
  const doGenerate = async ({ prompt }: { prompt: Message[] }): Promise<object> => {
    const { parts, end } = next(prompt)
    return { content: parts, ...end, warnings: [] }
  }
  const doStream = async ({ prompt }: { prompt: Message[] }): Promise<object> => {
    const { parts, end } = next(prompt)
    const texts = ['text-start', 'text-delta', 'text-end'].map((type) => ({ type, id: '1', delta: 'done' }))
    const pieces = 'text' in (parts[0] ?? {}) ? texts : parts
    return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...pieces, { type: 'finish', ...end }]) }
  }
  const middleware = [repeatToolReminder(config), ...(failures ? [repeatedFailureReminder(failures, config)] : [])]
  const model = new (Model as new (methods: object) => object)({ doGenerate, doStream })
  return { model: sdk.wrapLanguageModel({ model, middleware }), prompts }
}

function endOf(title: string, reason: string): object {
  if (title === 'ai 5') return { finishReason: reason, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }
  const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } }
  return { finishReason: { unified: reason, raw: undefined }, usage }
}

const remindersIn = (messages: readonly Message[]): number =>
  remindersAmong(messages.flatMap(({ role, content }) => (role === 'user' ? textsOf(content) : [])))

function loopOf(version: Version, door: string, methodOf: (settings: object) => Method): Loop {
  return {
    title: `${version.title}, ${door}`,
    lacks: {},
    async run(turns, guards = {}) {
      const { model, prompts } = modelOf(version, turns, guards)
      const method = methodOf({ model, tools, stopWhen: version.sdk.stepCountIs(20), maxRetries: 0 })
      const messages: unknown[] = []
      for (const _turn of turns) {
        messages.push({ role: 'user', content: 'go' })
        const result = await method({ messages })
        await result.consumeStream?.()
        messages.push(...((await result.responseMessages) ?? (await result.response).messages))
      }
      return { reminders: prompts.map(remindersIn), last: JSON.stringify(prompts.at(-1)), kept: remindersIn(messages as Message[]) }
    },
  }
}

const mastra: Loop = {
  title: 'Mastra 1',
  lacks: {},
  async run(turns, guards = {}) {
    const { model, prompts } = modelOf(versions[1] as Version, turns, guards)
    const agent = new MastraAgent({ id: 'a', name: 'a', instructions: 'Work.', model: model as never, tools: tools as never })
    const messages: unknown[] = []
    for (const _turn of turns) {
      messages.push({ role: 'user', content: 'go' })
      const { response } = await agent.generate(messages as never, { maxSteps: 20 })
      messages.push(...(response.messages ?? []))
    }
    return { reminders: prompts.map(remindersIn), last: JSON.stringify(prompts.at(-1)), kept: remindersIn(messages as Message[]) }
  },
}

export const loops: readonly Loop[] = [
  ...versions.flatMap((version) => [
    loopOf(version, '`generateText`', (settings) => (turn) => version.sdk.generateText({ ...settings, ...turn })),
    loopOf(version, '`streamText`', (settings) => (turn) => version.sdk.streamText({ ...settings, ...turn, onError: () => {} })),
    loopOf(version, 'the agent class', (settings) => (turn) => new version.Agent(settings).generate(turn)),
  ]),
  mastra,
]
