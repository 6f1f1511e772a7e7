import { fakeModel } from '@langchain/core/testing'
import { type AgentMiddleware, AIMessage, type BaseMessage, createAgent, HumanMessage } from 'langchain'
import type { MemorySaver } from '@langchain/langgraph'
import { repeatToolReminder, type RepeatConfig } from '@loopguard/guards-langchain'
import { isReminder } from '@loopguard/repeat'

export interface Call {
  readonly name: string
  readonly args: Record<string, unknown>
}
/** Calls, arguments that are no JSON, or a text, with which the model ends. */
export type Step = readonly Call[] | { readonly invalid: string } | string

type Tools = NonNullable<Parameters<typeof createAgent>[0]['tools']>

export const look = (args: Record<string, unknown> = { path: 'a', line: 1 }): Call => ({ name: 'look', args })
export const turned: Call = look({ line: 1, path: 'a' })

/** A model of LangChain that answers by a script, and keeps its requests. */
export function scripted(script: readonly Step[]): ReturnType<typeof fakeModel> {
  const model = fakeModel()
  let id = 0
  for (const step of script) {
    if (typeof step === 'string') model.respond(new AIMessage(step))
    else if ('invalid' in step) {
      const call = { id: `call-${++id}`, name: 'look', args: step.invalid, error: 'no JSON', type: 'invalid_tool_call' as const }
      // An agent goes on while there is a valid call, so there is one of another tool beside it.
      model.respond(
        new AIMessage({ content: '', tool_calls: [{ id: `call-${++id}`, name: 'note', args: {} }], invalid_tool_calls: [call] }),
      )
    } else model.respondWithTools(step.map((call) => ({ ...call, id: `call-${++id}` })))
  }
  return model
}

interface Options {
  readonly config?: RepeatConfig
  readonly saver?: MemorySaver
  /** In place of the reminder. */
  readonly middleware?: AgentMiddleware[]
}

/** An agent with the reminder, and the requests that its model got. */
export function agentOf(script: readonly Step[], tools: Tools, { config, saver, middleware = [repeatToolReminder(config)] }: Options = {}) {
  const model = scripted(script)
  const agent = createAgent({ model, tools, middleware, ...(saver && { checkpointer: saver }) })
  return { agent, requests: () => model.calls.map(({ messages }) => messages) }
}

export function remindersIn(requests: readonly (readonly BaseMessage[])[]): number[] {
  return requests.map((messages) => messages.filter((one) => HumanMessage.isInstance(one) && isReminder(one.text)).length)
}
