import { fakeModel } from '@langchain/core/testing'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-langchain'
import { AIMessage, createAgent, HumanMessage, tool } from 'langchain'
import { z } from 'zod'

const look = tool(
  timeLimited(() => 'the same', 1_000),
  { name: 'look', description: '', schema: z.object({}) },
)
const model = fakeModel()
for (let call = 1; call <= 3; call++) model.respondWithTools([{ name: 'look', args: {}, id: String(call) }])
model.respond(new AIMessage('done'))
const agent = createAgent({ model, tools: [look], middleware: [repeatToolReminder()] })
await agent.invoke({ messages: [new HumanMessage('go')] })
const isTold = (message) => HumanMessage.isInstance(message) && message.text.startsWith('You are repeating')
console.log(`reminders: ${model.calls.map(({ messages }) => messages.filter(isTold).length).join()}`)
