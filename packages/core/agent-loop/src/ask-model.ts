import type { Bus } from '@loopguard/cordis-internals'
import { hopIfDue, show, strayKey } from '@loopguard/kit'
import type { LlmRuntime } from '@loopguard/llm'
import type { Session } from '@loopguard/session'
import { carrierOf, type ToolRuntime, waterfall } from '@loopguard/tools'
import { barrier } from './barrier.ts'
import { tellDelta } from './delta.ts'
import { type GivingUpParts, tellGivenUp } from './giving-up.ts'
import { ModelCall, type ModelCallOutcome } from './model-call.ts'
import type { StepPlace } from './step-place.ts'
import type { RequestBuilder } from './request.ts'
import type { Agent, RequestErrorDecision } from './types.ts'

/** What asking the model needs of its agent. */
export interface AskParts extends GivingUpParts {
  readonly agent: Agent
  readonly bus: Bus
  readonly session: Session
  readonly llm: LlmRuntime
  readonly tools: ToolRuntime
  readonly requests: RequestBuilder
}

const NOT_ASKED: ModelCallOutcome = Object.freeze({ kind: 'interrupted', content: Object.freeze([]), usage: undefined })

/**
 * Asks until the model answered, the turn was cancelled, or no listener of `agent/request-error` wants to try again.
 * Each failed attempt is logged before anybody is asked about it.
 * @throws what a listener throws, or an append.
 */
export async function askModel(parts: AskParts, place: StepPlace): Promise<ModelCallOutcome> {
  const { agent, bus, llm, requests, session, tools } = parts
  const { turn, step, signal, patience } = place
  for (let attempt = 1; !signal.aborted; attempt++) {
    const request = requests.next(tools.schemas(agent), signal)
    // The model must see nothing that the log may lose.
    const durable = barrier(parts.session, signal)
    if (durable !== undefined) await durable
    if (signal.aborted) break
    const call = new ModelCall(request, (chunk) => tellDelta(parts, place, attempt, chunk))
    const reading = call.read(llm.stream(request))
    const outcome = await patience.within(reading, (afterMs) => {
      tellGivenUp(parts, place, `the model of provider "${request.provider}"`, afterMs, reading)
      return call.cut()
    })
    if (outcome.kind !== 'failed') return outcome
    const { failure } = outcome
    const text = beginning(outcome.text)
    session.append('request/failed', { turn, step, attempt, failure, ...(text !== '' && { text }) })
    const deciding = waterfall<RequestErrorDecision, boolean>(bus, carrierOf(agent), {
      event: 'agent/request-error',
      args: [Object.freeze({ agent, turn, step, failure, signal })],
      center: () => undefined,
      parse: wantsRetry,
    })
    const isRetried = await patience.within(deciding, (afterMs) => {
      tellGivenUp(parts, place, 'a listener of agent/request-error', afterMs, deciding)
      return false
    })
    if (!isRetried && !signal.aborted) return outcome
    const hop = hopIfDue()
    if (hop !== undefined) await hop
  }
  return NOT_ASKED
}

function wantsRetry(answer: unknown): boolean {
  if (answer === undefined) return false
  if ((answer as { readonly kind?: unknown } | null)?.kind !== 'retry')
    throw new TypeError(`returned ${show(answer)}, not { kind: 'retry' } or undefined`)
  const stray = strayKey(answer as object, ['kind'])
  if (stray !== undefined) throw new TypeError(`gave a retry that ${stray}`)
  return true
}

const MAX_LOGGED_TEXT = 2_000

/** Never half a character. */
function beginning(text: string): string {
  if (text.length <= MAX_LOGGED_TEXT) return text
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(MAX_LOGGED_TEXT - 1))
  return text.slice(0, isSplit ? MAX_LOGGED_TEXT - 1 : MAX_LOGGED_TEXT)
}
