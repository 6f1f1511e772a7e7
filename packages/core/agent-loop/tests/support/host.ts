import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context, type Fiber } from '@deepseek-ai/cordis'
import { AgentLoop, type Config } from '@loopguard/agent-loop'
import { LlmRuntime } from '@loopguard/llm'
import { type SessionEvent, SessionStore } from '@loopguard/session'
import { type ToolDefinition, ToolRuntime } from '@loopguard/tools'
import { captureErrors, type InvariantWatch, type LoggedError, mountInvariants, ScriptedModel, type ScriptEntry } from '@loopguard/testkit'

/** A host whose sessions are files. Unlike the testkit's harness it can be left and come back to its directory. */
export interface FileHost extends AsyncDisposable {
  readonly ctx: Context
  readonly model: ScriptedModel
  readonly log: readonly LoggedError[]
  unloadLoop(): Promise<void>
}

export interface FileHostOptions {
  readonly directory: string
  readonly script?: readonly ScriptEntry[]
  readonly tools?: readonly ToolDefinition[]
  readonly loop?: Partial<Config>
}

/** @throws what a part throws while it starts; what was mounted by then is gone again. */
export async function fileHost({ directory, script = [], tools = [], loop = {} }: FileHostOptions): Promise<FileHost> {
  const ctx = new Context()
  const log = captureErrors(ctx)
  const model = new ScriptedModel(script)
  let watch: InvariantWatch
  let loopFiber: Fiber
  try {
    await ctx.plugin(LlmRuntime)
    await ctx.plugin(SessionStore, { directory })
    await ctx.plugin(ToolRuntime)
    watch = await mountInvariants(ctx)
    ctx.llm.registerAdapter(['scripted'], model)
    for (const tool of tools) ctx.tools.register(tool)
    loopFiber = await ctx.plugin(AgentLoop, loop)
  } catch (error) {
    await ctx.fiber.dispose()
    throw error
  }
  const dispose = async (): Promise<void> => {
    await ctx.fiber.dispose()
    watch.assertNone()
  }
  return { ctx, model, log, unloadLoop: () => loopFiber.dispose(), [Symbol.asyncDispose]: dispose }
}

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'loopguard-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** The events of a log file; a last line without a line break is left out. */
export async function eventsOf(directory: string, id: string): Promise<SessionEvent[]> {
  const lines = (await readFile(join(directory, `${id}.jsonl`), 'utf8')).split('\n')
  return lines.slice(0, -1).map((line) => JSON.parse(line) as SessionEvent)
}
