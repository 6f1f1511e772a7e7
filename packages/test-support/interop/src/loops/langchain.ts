import { fakeModel } from '@langchain/core/testing'
import { MemorySaver } from '@langchain/langgraph'
import { repeatedFailureReminder, repeatToolReminder, timeLimited } from '@loopguard/guards-langchain'
import { AIMessage, type BaseMessage, createAgent, HumanMessage, tool } from 'langchain'
import { type Loop, remindersAmong } from './loop.ts'
import { broken, BUDGET, hang, look, schemas, tick } from './tools.ts'

const tools = [
  tool(look, { name: 'look', description: '', schema: schemas.look }),
  tool(broken, { name: 'broken', description: '', schema: schemas.broken }),
  tool(tick, { name: 'tick', description: '', schema: schemas.tick }),
  tool(
    timeLimited((_args: object, { signal }: { signal?: AbortSignal }) => hang(signal), BUDGET),
    { name: 'hang', description: '', schema: schemas.hang },
  ),
]

const remindersIn = (messages: readonly BaseMessage[]): number =>
  remindersAmong(messages.filter((one) => HumanMessage.isInstance(one)).map(({ text }) => text))

/** With a checkpointer, which keeps the state between turns. */
export const langchain: Loop = {
  title: 'LangChain 1, `createAgent`',
  lacks: {},
  async run(turns, { config, failures } = {}) {
    const model = fakeModel()
    for (const [index, step] of turns.flat().entries()) {
      if (typeof step === 'string') model.respond(new AIMessage(step))
      else
        model.respondWithTools(
          step.map(({ name, json }, at) => ({ name, args: JSON.parse(json) as Record<string, unknown>, id: `${index}-${at}` })),
        )
    }
    const middleware = [repeatToolReminder(config), ...(failures ? [repeatedFailureReminder(failures, config)] : [])]
    const agent = createAgent({ model, tools, middleware, checkpointer: new MemorySaver() })
    let kept: BaseMessage[] = []
    for (const _turn of turns) {
      kept = (await agent.invoke({ messages: [new HumanMessage('go')] }, { configurable: { thread_id: '1' } })).messages
    }
    const requests = model.calls.map(({ messages }) => messages)
    return { reminders: requests.map(remindersIn), last: JSON.stringify(requests.at(-1)), kept: remindersIn(kept) }
  },
}
