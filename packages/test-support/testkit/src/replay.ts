import { type Agent } from '@loopguard/agent-loop'
import { HarnessError } from '@loopguard/kit'
import { createUserMessage, LlmAdapter, type LlmRequest, type StreamChunk, text, type UserMessage } from '@loopguard/llm'
import type { ToolDefinition, ToolRunContext } from '@loopguard/tools'
import type { RecordedCall, RecordedInput, Transcript } from './read/transcript.ts'
import { chunksOfBlock } from './script.ts'

/**
 * Plays a transcript to one agent: its answers as the model, its user messages at their places, its tool results as tools.
 * Past the end of the transcript the model says nothing more, so that a conversation that was cut off ends there.
 */
export class Replay extends LlmAdapter {
  private readonly transcript: Transcript
  private agent: Agent | undefined
  private answered = 0
  private sent = -1
  /** The calls of the latest answer, by id; calls of one id in recorded order. */
  private calls = new Map<string, RecordedCall[]>()
  /** Which of them an execution stands for; a retry is the same execution. */
  private played = new Map<symbol, RecordedCall | undefined>()

  private readonly errors: RegExp | undefined

  /** @param errors - a result in which it finds something is that of a call that failed, as is one that the transcript says so of. */
  constructor(transcript: Transcript, { errors }: { readonly errors?: RegExp | undefined } = {}) {
    super()
    this.transcript = transcript
    this.errors = errors
  }

  /** One tool for every name that the transcript calls. */
  tools(): ToolDefinition[] {
    const names = new Set(this.transcript.answers.flatMap(({ calls }) => calls.map(({ name }) => name)))
    return [...names].map((name) => ({
      name,
      description: `Returns the recorded results of ${name}`,
      parameters: {},
      execute: (_args, exec) => this.resultOf(name, exec),
    }))
  }

  /** Sends what the model read before its first answer. */
  start(agent: Agent): void {
    this.agent = agent
    this.send(0)
  }

  /** A turn has completed: what the user said next starts the next one. */
  turnEnded(): void {
    if (this.answered > this.sent) this.send(this.answered)
  }

  async *stream({ signal }: LlmRequest): AsyncGenerator<StreamChunk, void, undefined> {
    const answer = this.transcript.answers[this.answered]
    if (answer === undefined) {
      yield { type: 'finish', reason: { kind: 'stop' } }
      return
    }
    this.answered++
    this.calls = byId(answer.calls)
    this.played = new Map()
    // What the user said while tools ran is read together with their results.
    if (answer.calls.length > 0) this.interject(this.answered)
    for (const [index, block] of answer.blocks.entries()) {
      signal.throwIfAborted()
      yield* chunksOfBlock(block, index)
    }
    yield { type: 'finish', reason: { kind: answer.calls.length > 0 ? 'tool-calls' : 'stop' } }
  }

  private resultOf(name: string, { callId, token }: ToolRunContext): string {
    if (!this.played.has(token)) this.played.set(token, this.calls.get(callId)?.shift())
    const call = this.played.get(token)
    if (call?.name !== name) throw new HarnessError(`the transcript holds no call "${callId}" of tool "${name}" here`, 'NOT_RECORDED')
    if (call.result !== undefined && (call.isError === true || this.errors?.test(call.result) === true)) throw failureOf(call.result)
    if (call.result !== undefined) return call.result
    throw new HarnessError(`the transcript holds no result for call "${callId}" of tool "${name}"`, 'NO_RECORDED_RESULT')
  }

  /** All for one turn: what comes last wakes the agent, and is claimed last. */
  private send(place: number): void {
    this.sent = place
    const inputs = this.transcript.inputs[place] ?? []
    const messages = inputs.length === 0 && place === 0 ? [NOTHING_SAID()] : inputs.map(messageOf)
    for (const message of messages.slice(0, -1)) this.agent?.inject(message)
    for (const message of messages.slice(-1)) this.agent?.followup(message)
  }

  private interject(place: number): void {
    this.sent = place
    for (const input of this.transcript.inputs[place] ?? []) this.agent?.inject(messageOf(input))
  }
}

function byId(calls: readonly RecordedCall[]): Map<string, RecordedCall[]> {
  const groups = new Map<string, RecordedCall[]>()
  for (const call of calls) groups.set(call.id, [...(groups.get(call.id) ?? []), call])
  return groups
}

/** The pipeline puts the word in front that a transcript may have there already. */
function failureOf(result: string): Error {
  return new Error(result.replace(/^Error: /, ''))
}

const SOURCE = { kind: 'plugin', plugin: 'replay' } as const

function messageOf({ kind, content }: RecordedInput): UserMessage {
  return createUserMessage({ content, source: kind === 'user' ? { kind } : SOURCE })
}

/** Something has to wake the agent. */
const NOTHING_SAID = (): UserMessage =>
  createUserMessage({ content: [text('(The transcript does not start with a user message.)')], source: SOURCE })
