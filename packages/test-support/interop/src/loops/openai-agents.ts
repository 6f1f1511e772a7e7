import { Agent, MemorySession, Runner, tool } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { repeatedFailureReminder, repeatToolReminder, timeLimited } from '@loopguard/guards-openai-agents'
import { type Loop, remindersAmong, textsOf } from './loop.ts'
import { broken, BUDGET, hang, look, schemas, tick } from './tools.ts'

const tools = [
  tool({ name: 'look', description: '', parameters: schemas.look, execute: look }),
  tool({ name: 'broken', description: '', parameters: schemas.broken, execute: broken }),
  tool({ name: 'tick', description: '', parameters: schemas.tick, execute: tick }),
  tool({
    name: 'hang',
    description: '',
    parameters: schemas.hang,
    execute: timeLimited((_input: object, _context, { signal }) => hang(signal), BUDGET),
  }),
]

function remindersIn(input: string | readonly object[]): number {
  const items = typeof input === 'string' ? [] : (input as readonly { role?: string; content?: unknown }[])
  return remindersAmong(items.flatMap(({ role, content }) => (role === 'user' ? textsOf(content) : [])))
}

/** With a session, which keeps the items between turns. */
const loopOf = (title: string, stream: boolean): Loop => ({
  title,
  lacks: { unknown: 'a call of an unknown tool ends the run' },
  async run(turns, { config, failures } = {}) {
    const answers = turns.flat().map((step, index) => {
      if (typeof step === 'string') return [assistantMessage(step)]
      return step.map(({ name, json }, at) => functionCall(name, json, { callId: `${index}-${at}` }))
    })
    const model = new ScriptedModel(answers)
    const reminded = repeatToolReminder(config)(model)
    const agent = new Agent({ name: 'a', model: failures ? repeatedFailureReminder(failures, config)(reminded) : reminded, tools })
    const runner = new Runner({ tracingDisabled: true })
    const session = new MemorySession()
    for (const _turn of turns) {
      if (stream) await (await runner.run(agent, 'go', { session, stream, maxTurns: 20 })).completed
      else await runner.run(agent, 'go', { session, maxTurns: 20 })
    }
    const requests = model.calls.map(({ request }) => request.input)
    return { reminders: requests.map(remindersIn), last: JSON.stringify(requests.at(-1)), kept: remindersIn(await session.getItems()) }
  },
})

export const loops: readonly Loop[] = [loopOf('OpenAI Agents SDK, `run`', false), loopOf('OpenAI Agents SDK, streamed', true)]
