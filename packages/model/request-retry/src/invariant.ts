import type {} from '@loopguard/agent-loop'
import { isDeepStrictEqual } from 'node:util'
import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { Session, SessionEvent } from '@loopguard/session'

type Retry = SessionEvent<'request/retry'>['data']

const plugin: Companion = companion({
  name: 'request-retry-invariant',
  packageName: '@loopguard/request-retry',
  inject: ['agentLoop'],
  install(ctx, fail) {
    onDispatch(ctx, {
      'session/event'(args) {
        const [session, { type, data }] = args as [Session, SessionEvent]
        const complaint = type === 'request/retry' ? judge(session.events, data) : undefined
        if (complaint !== undefined) fail(`session "${session.id}", step ${(data as Retry).step}: ${complaint}`)
      },
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that each retry answers an attempt that failed, is counted within its step, and is one of those that are allowed. A violation refuses the event. */
export const apply: Companion['apply'] = plugin.apply

function judge(events: readonly SessionEvent[], retry: Retry): string | undefined {
  const start = events.findLastIndex(({ type }) => type === 'step/start')
  const step = events.slice(start + 1)
  const failed = step.filter((event) => event.type === 'request/failed')
  const retries = step.filter(({ type }) => type === 'request/retry').length
  const last = failed.at(-1)
  if (last === undefined || !isDeepStrictEqual(last.data.failure, retry.failure)) return 'a retry answers no attempt that failed'
  if (retry.retry !== retries + 1) return `retry ${retry.retry} is number ${retries + 1} of its step`
  if (retries >= failed.length) return `retry ${retry.retry} comes after ${failed.length} failed attempts`
  return retry.retry > retry.maxRetries ? `retry ${retry.retry} of at most ${retry.maxRetries}` : undefined
}
