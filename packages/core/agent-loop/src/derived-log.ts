import { isDeepStrictEqual } from 'node:util'
import type { LlmRequest, Message } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'

/** Up to so many messages each request is compared whole; then one each time that the log has grown by an eighth. */
const SHORT = 500

/** What a log says, derived anew so that the session is not checked against itself. */
export class DerivedLog {
  private readonly messages: Message[] = []
  /** How many messages there were at the last comparison. */
  private compared = 0
  private header: SessionEvent<'request/header'>['data'] | undefined
  private read = 0
  private readonly calls = new Set<string>()
  /** By id, how many calls the open step has started more than have ended. Those of plugins under the same id only make it fewer. */
  private readonly unsettled = new Map<string, number>()
  /** What is wrong with the latest request of the open step. Nothing is said of one that may have been sent before all this was seen. */
  private requests: 'unknown' | 'none' | 'right' | { readonly wrong: string } = 'unknown'

  private readonly isRunning: (callId: string) => boolean

  /** Whether a call of that id runs is asked where a step ends. */
  constructor(past: readonly SessionEvent[], isRunning: (callId: string) => boolean) {
    this.isRunning = isRunning
    this.catchUp(past)
    // The request of the step that is open was not seen.
    this.requests = 'unknown'
  }

  catchUp(events: readonly SessionEvent[]): void {
    for (; this.read < events.length; this.read++) this.fold(events[this.read] as SessionEvent)
  }

  /**
   * Anybody may make requests in the name of a session, a plugin that sums it up say. So no request is wrong by itself, but in the step
   * of an answer there must have been one that is right.
   */
  see(request: LlmRequest): void {
    if (this.requests === 'unknown' || this.requests === 'right') return
    const wrong = this.compare(request)
    this.requests = wrong === undefined ? 'right' : { wrong }
  }

  /** The loop's request has failed; a listener may have failed it before it was seen here. */
  failed(): string | undefined {
    const complaint = typeof this.requests === 'object' ? this.requests.wrong : undefined
    // The next attempt within the step is another request.
    this.requests = 'none'
    return complaint
  }

  /** Some call of that id has its result. */
  settle(id: string): void {
    const count = this.unsettled.get(id) ?? 0
    if (count > 1) this.unsettled.set(id, count - 1)
    else this.unsettled.delete(id)
  }

  /** What is wrong with an event that is about to be committed. It may be refused yet. */
  judge(event: SessionEvent): string | undefined {
    switch (event.type) {
      case 'step/end': {
        if (this.unsettled.size === 0 || this.requests === 'unknown') return undefined
        // Somebody may have kept the result of a call from being heard: then it is not running any more, all the same.
        const left = [...this.unsettled.keys()].find((id) => this.isRunning(id))
        return left === undefined ? undefined : `call "${left}" still runs at the end of its step`
      }
      case 'assistant/message':
        if (this.requests === 'none') return 'an answer was logged to no request'
        return typeof this.requests === 'object' ? this.requests.wrong : undefined
      case 'user/message':
        return this.calls.size === 0 ? undefined : `the user message of event ${event.seq} stands between a call and its result`
      default:
        return undefined
    }
  }

  private compare(request: LlmRequest): string | undefined {
    const { header } = this
    if (header === undefined) return 'a request was sent before any request/header was logged'
    for (const key of ['provider', 'model', 'system', 'tools', 'maxTokens'] as const) {
      if (request[key] !== header[key] && !isDeepStrictEqual(request[key], header[key]))
        return `the \`${key}\` of a request is not what request/header says`
    }
    const count = this.messages.length
    // Reading the messages of a request copies them, once, which may cost more than all the rest of a step.
    if (count > SHORT && count < this.compared * 1.125) return undefined
    this.compared = count
    return this.compareMessages(request.messages)
  }

  private compareMessages(messages: readonly Message[]): string | undefined {
    if (messages.length !== this.messages.length)
      return `a request has ${messages.length} messages, the log derives ${this.messages.length}`
    for (let index = 0; index < messages.length; index++) {
      if (messages[index] !== this.messages[index] && !isDeepStrictEqual(messages[index], this.messages[index]))
        return `message ${index} of a request ("${messages[index]?.id}") is not what the log derives`
    }
    return undefined
  }

  private fold(event: SessionEvent): void {
    switch (event.type) {
      case 'request/header':
        this.header = event.data
        break
      case 'user/message':
        this.messages.push(event.data)
        break
      case 'assistant/message':
        if (event.data.message.content.length > 0) this.messages.push(event.data.message)
        for (const block of event.data.message.content) if (block.type === 'tool-call') this.calls.add(block.id)
        this.requests = 'none'
        break
      case 'tool/call':
        this.unsettled.set(event.data.callId, (this.unsettled.get(event.data.callId) ?? 0) + 1)
        break
      case 'tool/result':
        this.messages.push(event.data.message)
        this.calls.delete(event.data.message.source.callId)
        break
      case 'step/start':
      case 'step/end':
      case 'turn/end':
        this.requests = 'none'
        // A step that was broken off is not held against those that follow it.
        this.calls.clear()
        this.unsettled.clear()
        break
      default:
    }
  }
}
