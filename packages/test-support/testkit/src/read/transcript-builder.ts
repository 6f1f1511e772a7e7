import { CallId, type ModelBlock, type TextBlock } from '@loopguard/llm'
import type { RecordedAnswer, RecordedCall, RecordedInput, Transcript } from './transcript.ts'

type OpenCall = { -readonly [K in keyof RecordedCall]: RecordedCall[K] }

/** Puts a transcript together, message by message. */
export class TranscriptBuilder {
  private readonly system: string[] = []
  private readonly answers: { blocks: ModelBlock[]; calls: OpenCall[] }[] = []
  /** The calls without a result, the oldest first. */
  private readonly open = new Set<OpenCall>()
  private readonly inputs: RecordedInput[][] = [[]]
  private readonly notes: string[] = []
  private fresh = 0

  get isEmpty(): boolean {
    return this.system.length === 0 && this.answers.length === 0 && this.inputs[0]?.length === 0
  }

  /** An id for a call that was recorded without one. */
  freshId(): string {
    return `recorded_${++this.fresh}`
  }

  /** The system prompt, where a format keeps it apart. The first counts. */
  openWith(system: string): void {
    if (this.system.length === 0) this.system.push(system)
  }

  instruct(content: readonly TextBlock[]): void {
    if (this.answers.length === 0 && this.inputs[0]?.length === 0) this.system.push(content.map(({ text }) => text).join(''))
    else this.inputs.at(-1)?.push({ kind: 'instruction', content })
  }

  /** What reached the model as a message of the user, and was not the user's. */
  inject(content: readonly TextBlock[]): void {
    this.inputs.at(-1)?.push({ kind: 'instruction', content })
  }

  /** What a reader left out or guessed. */
  note(what: string): void {
    this.notes.push(what)
  }

  hear(content: readonly TextBlock[]): void {
    this.inputs.at(-1)?.push({ kind: 'user', content })
  }

  /**
   * Two answers with nothing between them are one: there is nothing that the second could be an answer to. (After calls there is:
   * their results, though they were not recorded.)
   */
  say(blocks: readonly ModelBlock[], calls: readonly Omit<RecordedCall, 'result' | 'isError'>[]): void {
    const last = this.answers.at(-1)
    const said = calls.map((call): OpenCall => ({ ...call, result: undefined }))
    for (const call of said) this.open.add(call)
    const callBlocks = calls.map((call): ModelBlock => ({ type: 'tool-call', ...call, id: CallId(call.id) }))
    if (last !== undefined && last.calls.length === 0 && this.inputs.at(-1)?.length === 0) {
      last.blocks.push(...blocks, ...callBlocks)
      last.calls.push(...said)
      return
    }
    this.answers.push({ blocks: [...blocks, ...callBlocks], calls: said })
    this.inputs.push([])
  }

  /** Whether some call of this id waits for a result: one of the latest answer first, then the oldest. */
  answer(id: string, result: string, isError: boolean): boolean {
    return this.fill((call) => call.id === id, result, isError)
  }

  /** A result without an id: it belongs to the oldest call of the latest answer that waits for one. */
  answerNext(result: string, isError: boolean): boolean {
    const call = this.answers.at(-1)?.calls.find((last) => this.open.has(last))
    return call !== undefined && this.answer(call.id, result, isError)
  }

  answerByName(name: string, result: string, isError: boolean): boolean {
    return this.fill((call) => call.name === name, result, isError)
  }

  build(model: string | undefined): Transcript {
    const answers: readonly RecordedAnswer[] = this.answers
    const { inputs, notes } = this
    const system = this.system.length === 0 ? undefined : this.system.join('\n\n')
    return { system, model, answers, inputs, ...(notes.length > 0 && { notes }) }
  }

  private fill(matches: (call: OpenCall) => boolean, result: string, isError: boolean): boolean {
    const call = this.answers.at(-1)?.calls.find((last) => this.open.has(last) && matches(last)) ?? [...this.open].find(matches)
    if (call === undefined) return false
    this.open.delete(call)
    call.result = result
    if (isError) call.isError = true
    return true
  }
}
