import { companion, type Companion, type DispatchListener, onDispatch } from '@loopguard/invariants/companion'
import type { ToolExecution, ToolExecutionResult } from './types.ts'

const STAGES = ['pre-execute', 'execute', 'post-execute', 'result'] as const

type Stage = (typeof STAGES)[number]

/**
 * What may come before each stage. `start`: the call is seen for the first time. `midway`: it was under way when the checks began, so
 * it may have come anywhere.
 */
const AFTER: Readonly<Record<Stage, readonly (Stage | 'start' | 'midway')[]>> = {
  'pre-execute': ['start'],
  execute: ['pre-execute', 'midway'],
  'post-execute': ['start', 'pre-execute', 'execute', 'midway'],
  result: ['start', 'post-execute', 'midway'],
}

interface Seen {
  stage: Stage | 'start' | 'midway'
  readonly identity: Identity
}

type Identity = Pick<ToolExecution, 'name' | 'callId' | 'arguments' | 'agent' | 'parent'>

const plugin: Companion = companion({
  name: 'tools-invariant',
  packageName: '@loopguard/tools',
  inject: ['tools'],
  install(ctx, fail) {
    // By token, not by object: a forged execution must borrow the token of a real one. An entry goes with its token.
    const calls = new WeakMap<symbol, Seen>()
    for (const exec of ctx.tools.running()) calls.set(exec.token, { stage: 'midway', identity: identityOf(exec) })

    const enter = (stage: Stage, exec: ToolExecution, failed: boolean): string | undefined => {
      const seen = calls.get(exec.token)
      const before = seen?.stage ?? 'start'
      if (seen === undefined) calls.set(exec.token, { stage, identity: identityOf(exec) })
      else seen.stage = stage
      // A review that somebody refuses to let begin fails the call.
      const unreviewed = failed && before !== 'result'
      if (!unreviewed && !AFTER[stage].includes(before)) return `stage ${stage} came after ${before}`
      return seen === undefined || isSame(seen.identity, exec) ? undefined : `its identity changed before stage ${stage}`
    }
    const listener = (stage: Stage): DispatchListener => {
      return (args) => {
        const exec = args[0] as ToolExecution
        const result = args[1] as ToolExecutionResult | undefined
        if (typeof (exec as Partial<ToolExecution> | undefined)?.token !== 'symbol') return
        const complaint =
          enter(stage, exec, stage === 'result' && result?.isError === true) ??
          (stage !== 'result' || isDeepFrozen(result) ? undefined : 'its result is not deep-frozen')
        if (complaint === undefined) return
        const say = (): void => fail(`call "${exec.callId}" of tool "${exec.name}": ${complaint}`)
        if (stage === 'result') reported(say)
        else say()
      }
    }
    // Once for each stage of each call, before any listener hears of it; no listener can hide a stage, or see one twice by retrying.
    onDispatch(ctx, Object.fromEntries(STAGES.map((stage) => [`tools/${stage}`, listener(stage)])))
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/**
 * Checks the order of the stages of each call, that its identity stays, and that its result is frozen and comes once. A violation
 * fails the call; one that shows in its result only is reported, and listeners to results still hear it.
 */
export const apply: Companion['apply'] = plugin.apply

function isSame(one: Identity, other: Identity): boolean {
  return (
    one.name === other.name &&
    one.callId === other.callId &&
    one.arguments === other.arguments &&
    one.agent === other.agent &&
    one.parent === other.parent
  )
}

function identityOf({ name: tool, callId, arguments: args, agent, parent }: ToolExecution): Identity {
  return { name: tool, callId, arguments: args, agent, parent }
}

function reported(fail: () => void): void {
  try {
    fail()
  } catch {
    // A throw would keep the event from its listeners.
  }
}

function isDeepFrozen(root: unknown): boolean {
  if (!isObject(root)) return true
  // A set is walked in the order of its members, those that join meanwhile included.
  const parts = new Set([root])
  for (const part of parts) {
    if (!Object.isFrozen(part)) return false
    for (const value of Object.values(part)) if (isObject(value)) parts.add(value)
  }
  return true
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
