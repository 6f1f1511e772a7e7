import type { Bus } from '@loopguard/cordis-internals'
import { asSnapshot, messageOf, show, strayKey } from '@loopguard/kit'
import type { MessageId, UserMessage } from '@loopguard/llm'
import type { Session } from '@loopguard/session'
import { carrierOf, waterfall } from '@loopguard/tools'
import { closeAfter, quietly } from './close-after.ts'
import { type GivingUpParts, tellGivenUp } from './giving-up.ts'
import type { Inbox } from './inbox.ts'
import { userMessageOf } from './message.ts'
import type { StepPlace } from './step-place.ts'
import type { Agent, PreStepDecision } from './types.ts'

const REJECT: PreStepDecision = Object.freeze({ kind: 'reject' })
const REJECT_AND_KEEP: PreStepDecision = Object.freeze({ kind: 'reject', keep: true })

/** What the door of a step needs of its agent. */
export interface PreStepParts extends GivingUpParts {
  readonly agent: Agent
  readonly bus: Bus
  readonly session: Session
  readonly inbox: Inbox
  /** Ids of the user messages that stand in the log. */
  readonly loggedIds: Set<MessageId>
  /** Claims from the inbox what the next step is to see. */
  claim(startsTurn: boolean): readonly UserMessage[]
}

/**
 * Claims from the inbox and asks `agent/pre-step`. Returns the messages that enter, or why there is no step: a model that is owed no
 * results of tools is not asked with nothing.
 * @throws what a listener throws; the claim is gone then, as after a rejection.
 */
export async function preStep(
  parts: PreStepParts,
  place: StepPlace,
  owesResults: boolean,
): Promise<readonly UserMessage[] | 'rejected' | 'aborted' | 'nothing'> {
  const { agent, bus, inbox } = parts
  const { turn, step, signal, patience } = place
  if (signal.aborted) return 'aborted'
  const messages = Object.freeze(parts.claim(step === 1))
  let entering: readonly UserMessage[] | undefined
  let decision: PreStepDecision
  try {
    const deciding = waterfall<PreStepDecision>(bus, carrierOf(agent), {
      event: 'agent/pre-step',
      args: [Object.freeze({ agent, messages, turn, step, signal })],
      center: () => ({ kind: 'enter', messages }),
      parse: decisionOf,
    })
    decision = await patience.within(deciding, (afterMs) => {
      tellGivenUp(parts, place, 'a listener of agent/pre-step', afterMs, deciding)
      return REJECT
    })
    if (decision.kind === 'enter') entering = decision.messages
  } catch (error) {
    if (signal.aborted) inbox.returnClaim()
    else quietly(() => inbox.commitClaim())
    throw error
  }
  if (signal.aborted) {
    // The step never entered: what the canceller did not discard waits again.
    inbox.returnClaim()
    return 'aborted'
  }
  if (entering !== undefined && (entering.length > 0 || owesResults)) return entering
  if (decision.kind === 'reject' && decision.keep === true) inbox.returnClaim()
  else inbox.commitClaim()
  return entering === undefined ? 'rejected' : 'nothing'
}

/** Opens the step. From here on the claim belongs to it. @throws what the append throws; then the claim waits again. */
export function openStep({ session, inbox }: PreStepParts, { turn, step }: StepPlace): void {
  inbox.enterClaim()
  try {
    session.append('step/start', asSnapshot({ turn, step }))
  } catch (error) {
    inbox.returnClaim()
    throw error
  }
}

/** Logs what enters, then the claim that let it in. */
export function admit({ session, inbox, loggedIds }: PreStepParts, messages: readonly UserMessage[]): void {
  closeAfter(
    () => {
      for (const message of messages) {
        session.append('user/message', message)
        loggedIds.add(message.id)
      }
    },
    () => inbox.commitClaim(),
  )
}

/** Each field is read once. */
function decisionOf(answer: unknown): PreStepDecision {
  const { kind, messages, keep } = Object(answer) as { readonly kind?: unknown; readonly messages?: unknown; readonly keep?: unknown }
  if (kind === 'reject') {
    if (keep !== undefined && typeof keep !== 'boolean') throw new TypeError(`gave a reject whose keep is ${show(keep)}, not true or false`)
    return keep === true ? REJECT_AND_KEEP : REJECT
  }
  if (kind !== 'enter') {
    const seen = kind === undefined ? show(answer) : `the kind ${show(kind)}`
    throw new TypeError(`returned ${seen}, not { kind: 'enter', messages } or { kind: 'reject' }`)
  }
  const stray = strayKey(Object(answer) as object, ['kind', 'messages'])
  if (stray !== undefined) throw new TypeError(`gave an enter that ${stray}`)
  try {
    return { kind, messages: userMessagesOf(messages) }
  } catch (thrown) {
    throw new TypeError(`gave messages that cannot be used: ${messageOf(thrown)}`)
  }
}

function userMessagesOf(value: unknown): readonly UserMessage[] {
  if (!Array.isArray(value)) throw new TypeError(`messages must be an array, got ${show(value)}`)
  return value.map((message, index) => userMessageOf(message, `messages[${index}]`))
}
