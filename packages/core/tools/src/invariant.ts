import { companion, type Companion } from '@loopguard/invariants/companion'
import type { ToolExecution } from './types.ts'

type Stage = 'pre-execute' | 'execute' | 'post-execute' | 'result'

/**
 * What may come before each stage; nothing before means that the call is seen for the first time. A call that was being judged
 * when the companion was loaded looks like one that nobody judged.
 */
const AFTER: Readonly<Record<Stage, readonly (Stage | undefined)[]>> = {
  'pre-execute': [undefined],
  execute: ['pre-execute'],
  'post-execute': [undefined, 'pre-execute', 'execute'],
  result: [undefined, 'post-execute'],
}

interface Seen {
  stage: Stage
  readonly identity: readonly unknown[]
}

const plugin: Companion = companion({
  name: 'tools-invariant',
  packageName: '@loopguard/tools',
  inject: ['tools'],
  install(ctx, fail) {
    // By token, not by object: whoever forges an execution must borrow the token of one. An entry goes with its token.
    const calls = new WeakMap<symbol, Seen>()
    const enter = (stage: Stage, exec: Omit<ToolExecution, 'signal'>): void => {
      const seen = calls.get(exec.token)
      const identity = [exec.name, exec.callId, exec.arguments, exec.agent, exec.parent]
      calls.set(exec.token, { stage, identity: seen?.identity ?? identity })
      const call = `call "${exec.callId}" of tool "${exec.name}"`
      if (!AFTER[stage].includes(seen?.stage)) fail(`${call}: stage ${stage} came after ${seen?.stage ?? 'nothing'}`)
      else if (seen?.identity.some((part, index) => part !== identity[index]) === true)
        fail(`${call}: its identity changed before stage ${stage}`)
    }
    ctx.on('tools/pre-execute', (exec, next) => (enter('pre-execute', exec), next()), { prepend: true })
    ctx.on('tools/execute', (exec, next) => (enter('execute', exec), next()), { prepend: true })
    ctx.on('tools/post-execute', (exec, _result, next) => (enter('post-execute', exec), next()), { prepend: true })
    ctx.on(
      'tools/result',
      (exec, result) => {
        enter('result', exec)
        if (!isDeepFrozen(result)) fail(`call "${exec.callId}" of tool "${exec.name}": its result is not deep-frozen`)
      },
      { prepend: true },
    )
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks the order of the stages of each call, that its identity stays, and that its result is frozen and comes once. */
export const apply: Companion['apply'] = plugin.apply

function isDeepFrozen(root: unknown): boolean {
  const pending = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    if (!Object.isFrozen(value)) return false
    pending.push(...Object.values(value))
  }
  return true
}
