import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@loopguard/agent-loop'
import { busOf, type CallId, createUserMessage, emitContained, text, type UserMessage } from '@loopguard/llm'
import * as reminder from '@loopguard/repeat-tool-reminder'
import { createHarness, type Harness, type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import type { PostToolDecision, ToolExecution, ToolExecutionResult } from '@loopguard/tools'
import { onTestFinished } from 'vitest'
import { CALLS, deny, isReminder, postExecute, preStep, tools } from './stage.ts'

export const NAME = '@loopguard/repeat-tool-reminder'
export const OWN = { package_allowlist: [`^${NAME}$`] }

export interface Watched {
  readonly harness: Harness
  readonly ctx: Context
  readonly agent: Agent
  readonly watch: InvariantWatch
}

/** A host with the companion, and with the guard unless the test brings one of its own. */
export async function watched(config?: reminder.Config | null): Promise<Watched> {
  const harness = await createHarness({ plugins: [deny], invariants: false })
  onTestFinished(() => harness.dispose())
  const { ctx } = harness
  for (const definition of tools(() => ctx)) ctx.tools.register(definition)
  const watch = await mountInvariants(ctx, OWN)
  if (config !== null) await ctx.plugin(reminder, config)
  return { harness, ctx, agent: harness.agent(), watch }
}

/** What the companion has said, all of it recorded, emitted and logged. */
export function said(watch: InvariantWatch): string[] {
  return watch.violations.map(({ message }) => {
    watch.assertBroken(NAME, message)
    return message.replace(/^invariant violated by "[^"]+": (call "[^"]+" of tool |session )/, '')
  })
}

export function forged(words = 'You are repeating yourself.'): UserMessage {
  return createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'repeat-tool-reminder' } })
}

export const PREPEND = { prepend: true }
export const post = (
  ctx: Context,
  change: (decision: PostToolDecision, call: string) => PostToolDecision,
  options?: { prepend: boolean },
) => ctx.on('tools/post-execute', async (exec, _result, next) => change(await next(), exec.callId), options)

export function refuseReminders(ctx: Context): void {
  ctx.on('internal/dispatch', (_mode, event, args) => {
    const logged = args[1] as { type: string; data: UserMessage } | undefined
    if (event === 'session/event' && logged?.type === 'user/message' && isReminder(logged.data)) throw new Error('no more of these')
  })
}

/** Makes each call A first, on its own account, under the id under which the loop makes it then. */
export function doubling(ctx: Context): void {
  const own = new Set<CallId>()
  ctx.on('tools/execute', async (exec, next) => {
    const { callId, name, arguments: args, signal, agent } = exec
    const isIt = JSON.stringify(args) === JSON.stringify(CALLS.A.arguments)
    if (isIt && !own.has(callId)) {
      own.add(callId)
      await ctx.tools.execute({ callId, name, arguments: args, signal, agent })
    }
    return next()
  })
}

/** From here on the companion knows the agent's run. */
export async function userSpeaks(ctx: Context, agent: Agent): Promise<void> {
  await preStep(ctx, { agent, messages: [{ source: { kind: 'user' } }] })
}

/** A host that takes any arguments, gives its calls no token, and may lose what was added to a result. */
export function foreignHost(ctx: Context, agent: Agent): (args: unknown, shows?: boolean) => Promise<void> {
  let calls = 0
  return async (args, shows = true) => {
    const exec = { callId: `foreign-${++calls}`, name: 'look', arguments: args, agent } as unknown as ToolExecution
    const outcome: ToolExecutionResult = { isError: false, content: [] }
    const { additionalContexts } = await postExecute(ctx, exec, outcome, () => Promise.resolve({ kind: 'accept' }))
    const shown = shows && additionalContexts !== undefined ? { additionalContexts } : {}
    emitContained(busOf(ctx), null, 'tools/result', [exec, { ...outcome, ...shown }])
  }
}
