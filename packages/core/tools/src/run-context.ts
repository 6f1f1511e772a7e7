import { ownGetter } from '@loopguard/kit'
import type { Fuse } from './fuse.ts'
import type { Sink } from './sink.ts'
import type { ToolExecution, ToolRunContext } from './types.ts'

/** The execution as the body sees it: of this attempt alone, so that nothing a wrapper does later changes it under the body. */
export function runContext(exec: ToolExecution, fuse: Fuse | undefined, sink: Sink): ToolRunContext {
  const { callId, name, arguments: args, agent, parent, token, signal } = exec
  const deferContext = (message: unknown): void => sink.defer(name, message)
  const concludeTurn = (): void => sink.conclude(name)
  if (fuse === undefined) return Object.freeze({ callId, name, arguments: args, agent, parent, token, signal, deferContext, concludeTurn })
  const context = { callId, name, arguments: args, agent, parent, token, deferContext, concludeTurn }
  return Object.freeze(ownGetter(context, 'signal', () => fuse.signal))
}
