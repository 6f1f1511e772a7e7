// Both guards in a program that has our own host's augmentations.
import { Context } from '@deepseek-ai/cordis'
import type {} from '@loopguard/agent-loop'
import type {} from '@loopguard/invariants'
import type {} from '@loopguard/llm'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import type {} from '@loopguard/session'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import type { ToolRuntime } from '@loopguard/tools'

const ctx = new Context()

export const tools: ToolRuntime = ctx.tools
void ctx.plugin(timeoutPolicy)
void ctx.plugin(repeatToolReminder, { thresholds: [3, 5] })
// @ts-expect-error -- a threshold is a number
void ctx.plugin(repeatToolReminder, { thresholds: ['3'] })
ctx.on('tools/result', (exec, result) => void [exec.token, result.isError])
