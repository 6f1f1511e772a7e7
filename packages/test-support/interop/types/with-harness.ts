// The guards in a program that has the DeepSeek Harness' own augmentations: `ctx.tools` and the events stay the harness'.
import { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-agent-loop'
import type {} from '@deepseek-ai/dsh-invariants'
import type {} from '@deepseek-ai/dsh-llm'
import type {} from '@deepseek-ai/dsh-session'
import type { ToolRuntime } from '@deepseek-ai/dsh-tools'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as repeatToolReminderInvariant from '@loopguard/repeat-tool-reminder/invariant'
import * as repeatedFailureReminder from '@loopguard/repeated-failure-reminder'
import * as repeatedFailureReminderInvariant from '@loopguard/repeated-failure-reminder/invariant'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import * as timeoutPolicyInvariant from '@loopguard/timeout-policy/invariant'

const ctx = new Context()

export const tools: ToolRuntime = ctx.tools
export const code: 'TOOL_TIMEOUT' = timeoutPolicy.TOOL_TIMEOUT
export const config: repeatToolReminder.Config = { thresholds: [3], include: ['*'], exclude: [], argumentsPreviewChars: 80 }

void ctx.plugin(timeoutPolicy)
void ctx.plugin(repeatToolReminder)
void ctx.plugin(repeatToolReminder, { thresholds: [3, 5] })
void ctx.plugin(timeoutPolicyInvariant)
void ctx.plugin(repeatToolReminderInvariant)
void ctx.plugin(repeatedFailureReminder, { thresholds: [3], errors: '^no ' })
void ctx.plugin(repeatedFailureReminderInvariant)

// The types are not `any`.
// @ts-expect-error -- a threshold is a number
void ctx.plugin(repeatToolReminder, { thresholds: ['3'] })
// @ts-expect-error -- an expression is text
void ctx.plugin(repeatedFailureReminder, { errors: /^no / })
// @ts-expect-error -- not a key of the config
export const wrong: repeatToolReminder.Config = { treshold: [3] }
// @ts-expect-error -- not the name of the plugin
export const name: 'repeat' = repeatToolReminder.name

ctx.on('tools/result', (exec, result) => {
  // `value` is the harness' own field: our result has none.
  if (!result.isError) void [exec.rootCallId, result.value]
})
