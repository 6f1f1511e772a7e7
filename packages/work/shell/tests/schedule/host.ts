import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { AgentLoop } from '@loopguard/agent-loop'
import Jobs from '@loopguard/jobs'
import * as jobsInvariant from '@loopguard/jobs/invariant'
import * as jobsTools from '@loopguard/jobs/tools'
import { LlmAdapter, type LlmRequest, LlmRuntime, type SessionId, type StreamChunk } from '@loopguard/llm'
import { SessionStore } from '@loopguard/session'
import Shell from '@loopguard/shell'
import * as bash from '@loopguard/shell/bash'
import * as shellInvariant from '@loopguard/shell/invariant'
import { mountInvariants, ScriptedModel } from '@loopguard/testkit'
import { ToolRuntime } from '@loopguard/tools'

export interface PlannedCall {
  readonly name: string
  readonly arguments: object
}

/** A model that makes the calls it was told to, one a request, and says `ok` when there is none. */
export class PlannedModel extends LlmAdapter {
  readonly plans: Map<SessionId, PlannedCall[]> = new Map()
  private made = 0

  stream(request: LlmRequest): AsyncIterable<StreamChunk> {
    const call = this.plans.get(request.sessionId)?.shift()
    const entry = call === undefined ? { text: 'ok' } : { calls: [{ ...call, id: `planned-${++this.made}` }] }
    return new ScriptedModel([entry]).stream(request)
  }
}

/** A host whose sessions are files. */
export async function scheduleHost(directory?: string) {
  const folder = directory ?? mkdtempSync(join(tmpdir(), 'loopguard-schedule-'))
  const ctx = new Context()
  const watch = await mountInvariants(ctx)
  const model = new PlannedModel()
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(SessionStore, { directory: folder })
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(AgentLoop)
  await ctx.plugin(Shell, { graceMs: 150 })
  await ctx.plugin(shellInvariant)
  await ctx.plugin(Jobs, { maxConcurrentJobsPerOwner: 4 })
  await ctx.plugin(jobsInvariant)
  await ctx.plugin(jobsTools, { maxConsecutiveWakes: 1 })
  await ctx.plugin(bash)
  ctx.llm.registerAdapter(['planned'], model)
  return {
    ctx,
    model,
    async [Symbol.asyncDispose](): Promise<void> {
      await ctx.fiber.dispose()
      if (directory === undefined) rmSync(folder, { recursive: true, force: true })
      watch.assertNone()
    },
  }
}

export const OPTIONS = { provider: 'planned', model: 'planned' }
