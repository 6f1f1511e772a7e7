import { messageOf, show } from '@loopguard/kit'
import { follow, type Follower, unfollow } from '@loopguard/timeout'
import type { Pipeline } from './pipeline.ts'
import { abortedBeforeDispatch, denied } from './results.ts'
import type { ApprovalRequest, ApprovalService, ToolExecution, ToolExecutionFailure } from './types.ts'

/** Asks the service `approval`. `undefined` is a grant. A caller who aborts meanwhile does not wait for the answer. */
export async function askApproval(
  pipeline: Pipeline,
  exec: ToolExecution,
  reason: string | undefined,
): Promise<ToolExecutionFailure | undefined> {
  const { agent, name, callId, signal } = exec
  if (signal.aborted) return abortedBeforeDispatch()
  if (agent === undefined) return denied(`tool "${name}" needs approval, and a call without an agent has nobody to ask`)
  const service = pipeline.ctx.get('approval') as ApprovalService | null | undefined
  if (service === undefined || service === null) return denied(`tool "${name}" needs approval, and there is no approval service`)

  const request = Object.freeze({ agent, toolName: name, callId, reason, signal })
  return unlessAborted(signal, () => answer(service, request))
}

async function answer(service: ApprovalService, request: ApprovalRequest): Promise<ToolExecutionFailure | undefined> {
  const approval = `approval of tool "${request.toolName}"`
  try {
    const answered = await service.request(request)
    switch (answered) {
      case 'allowed-once':
        return undefined
      case 'rejected':
        return denied(`${approval} was rejected`)
      case 'cancelled':
        return denied(`${approval} was cancelled`)
      case 'unavailable':
        return denied(`${approval} is unavailable`)
      default:
        return denied(`${approval} got an unknown answer: ${show(answered)}`)
    }
  } catch (thrown) {
    return denied(`${approval} failed: ${messageOf(thrown)}`)
  }
}

/** What `ask` comes to, or the abort as soon as there is one: somebody who never answers must not hold up a cancel. */
async function unlessAborted(
  signal: AbortSignal,
  ask: () => Promise<ToolExecutionFailure | undefined>,
): Promise<ToolExecutionFailure | undefined> {
  let giveUp!: (failure: ToolExecutionFailure) => void
  const gone = new Promise<ToolExecutionFailure>((resolve) => (giveUp = resolve))
  const follower: Follower = { abort: () => giveUp(abortedBeforeDispatch()) }
  follow(signal, follower)
  try {
    return await Promise.race([ask(), gone])
  } finally {
    unfollow(signal, follower)
  }
}
