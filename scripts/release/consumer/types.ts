// Every public entry of every package, seen from a project that has installed them.
import { Context } from '@deepseek-ai/cordis'
import AgentLoop, { type Agent, type AgentOptions } from '@loopguard/agent-loop'
import * as agentLoopInvariant from '@loopguard/agent-loop/invariant'
import * as budget from '@loopguard/budget'
import * as budgetInvariant from '@loopguard/budget/invariant'
import Invariants, { InvariantError } from '@loopguard/invariants'
import { companion } from '@loopguard/invariants/companion'
import * as invariantsInvariant from '@loopguard/invariants/invariant'
import LlmRuntime, { createUserMessage, SessionId, type UserMessage } from '@loopguard/llm'
import * as llmInvariant from '@loopguard/llm/invariant'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as repeatToolReminderInvariant from '@loopguard/repeat-tool-reminder/invariant'
import * as repeatedFailureReminder from '@loopguard/repeated-failure-reminder'
import * as repeatedFailureReminderInvariant from '@loopguard/repeated-failure-reminder/invariant'
import SessionStore, { type Session } from '@loopguard/session'
import * as sessionInvariant from '@loopguard/session/invariant'
import { createHarness } from '@loopguard/testkit'
import * as replay from '@loopguard/testkit/replay'
import * as scriptedModel from '@loopguard/testkit/scripted-model'
import { deadline, type Deadline } from '@loopguard/timeout'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import * as timeoutPolicyInvariant from '@loopguard/timeout-policy/invariant'
import ToolRuntime, { defineTool } from '@loopguard/tools'
import * as toolsInvariant from '@loopguard/tools/invariant'
import * as command from 'loopguard'

const ctx = new Context()
for (const plugin of [LlmRuntime, SessionStore, ToolRuntime]) void ctx.plugin(plugin)
void ctx.plugin(AgentLoop, {})
void ctx.plugin(Invariants, {})
void ctx.plugin(timeoutPolicy)
void ctx.plugin(repeatToolReminder, { thresholds: [3, 5], exclude: ['todo_*'] })
void ctx.plugin(budget, { maxStepsPerTurn: 50, exclude: ['todo_*'] })
void ctx.plugin(repeatedFailureReminder, { thresholds: [3, 5], errors: '^\\[exit code: ' })
void ctx.plugin(scriptedModel, { script: 'script.yml' })
void ctx.plugin(replay, { transcript: 'transcript.json' })
const companions = [
  agentLoopInvariant,
  budgetInvariant,
  invariantsInvariant,
  llmInvariant,
  repeatToolReminderInvariant,
  sessionInvariant,
  repeatedFailureReminderInvariant,
]
for (const plugin of [...companions, timeoutPolicyInvariant, toolsInvariant]) void ctx.plugin(plugin)

const options: AgentOptions = { provider: 'scripted', model: 'example' }
const agent: Agent = ctx.agentLoop.create(SessionId('one'), options)
const session: Session = agent.session
const message: UserMessage = createUserMessage({ content: [{ type: 'text', text: 'hello' }], source: { kind: 'user' } })
const limit: Deadline = deadline(undefined, 5, 'MY_TIMEOUT')
ctx.tools.register(defineTool({ name: 'look', description: '', parameters: {}, timeoutMs: 5, execute: () => 'same' }))
ctx.on('tools/result', (exec, result) => void [exec.token, result.isError])
export const all: unknown[] = [session, message, limit, InvariantError, companion, createHarness, command]

// The types are not `any`.
// @ts-expect-error -- a threshold is a number
void ctx.plugin(repeatToolReminder, { thresholds: ['3'] })
// @ts-expect-error -- a limit is a number
void ctx.plugin(budget, { maxStepsPerTurn: '50' })
// @ts-expect-error -- no such option
export const wrong: AgentOptions = { provider: 'scripted', model: 'example', temprature: 1 }
// @ts-expect-error -- milliseconds are a number
deadline(undefined, '5', 'MY_TIMEOUT')
