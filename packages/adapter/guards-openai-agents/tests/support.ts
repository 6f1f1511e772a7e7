import { type AgentInputItem, Agent, Runner, type Session, type Tool } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { repeatToolReminder, type RepeatConfig } from '@loopguard/guards-openai-agents'
import { isReminder } from '@loopguard/repeat'

export interface Call {
  readonly name: string
  /** Text is sent as it is: it may be no JSON. */
  readonly args: string | Record<string, unknown>
}
/** Calls, or a text, with which the model ends. */
export type Step = readonly Call[] | string

export const look = (args: Call['args'] = { path: 'a', line: 1 }): Call => ({ name: 'look', args })
export const turned: Call = look({ line: 1, path: 'a' })

let id = 0
export const scripted = (script: readonly Step[]): ScriptedModel =>
  new ScriptedModel(
    script.map((step) =>
      typeof step === 'string'
        ? [assistantMessage(step)]
        : step.map(({ name, args }) => functionCall(name, args, { callId: `call-${++id}` })),
    ),
  )

export type Door = 'run' | 'stream'
interface Turn {
  readonly input?: string | AgentInputItem[]
  readonly session?: Session
  readonly conversationId?: string
  readonly signal?: AbortSignal
}

/** An agent of the SDK with the reminder, and the requests that its model got. */
export function agentOf(script: readonly Step[], tools: Tool[], config?: RepeatConfig, wrap = repeatToolReminder(config)) {
  const model = scripted(script)
  const agent = new Agent({ name: 'a', model: wrap(model), tools })
  const runner = new Runner({ tracingDisabled: true })
  return {
    model,
    requests: () => model.calls.map(({ request }) => request.input),
    turn: async ({ input = 'go', ...options }: Turn = {}, door: Door = 'run') => {
      if (door === 'run') return runner.run(agent, input, { maxTurns: 20, ...options })
      const result = await runner.run(agent, input, { maxTurns: 20, ...options, stream: true })
      await result.completed
      return result
    },
  }
}

export function remindersIn(requests: readonly (string | readonly AgentInputItem[])[]): number[] {
  return requests.map((input) => (typeof input === 'string' ? 0 : input.filter(isTold).length))
}

function isTold(item: AgentInputItem): boolean {
  return 'role' in item && item.role === 'user' && typeof item.content === 'string' && isReminder(item.content)
}
