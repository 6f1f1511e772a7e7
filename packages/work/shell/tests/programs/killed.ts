// An agent starts a job, and says so; then it waits to be killed.
import { SessionId } from '@loopguard/llm'
import { userMessage } from '@loopguard/testkit'
import { OPTIONS, scheduleHost } from '../schedule/host.ts'

const [directory = '', command = ''] = process.argv.slice(2)
const { ctx, model } = await scheduleHost(directory)
const agent = ctx.agentLoop.create(SessionId('a'), OPTIONS)
model.plans.set(agent.id, [{ name: 'bash', arguments: { command, description: 'x', run_in_background: true } }])
agent.followup(userMessage('go'))
await agent.whenIdle()
process.stdout.write('started')
