import { repeatToolReminder, timeLimited } from '@loopguard/guards-openai-agents'
import { Agent, Runner, tool } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { z } from 'zod'

const look = tool({ name: 'look', description: '', parameters: z.object({}), execute: timeLimited(() => 'the same', 1_000) })
const calls = ['1', '2', '3'].map((callId) => [functionCall('look', '{}', { callId })])
const model = new ScriptedModel([...calls, [assistantMessage('done')]])
const agent = new Agent({ name: 'a', model: repeatToolReminder()(model), tools: [look] })
await new Runner({ tracingDisabled: true }).run(agent, 'go')
const told = model.calls.map(({ request }) => JSON.stringify(request.input).split('You are repeating').length - 1)
console.log(`reminders: ${told.join()}`)
