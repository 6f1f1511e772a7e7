import { CallId, type ModelBlock, type TextBlock } from '@loopguard/llm'
import type { RecordedAnswer, RecordedCall, RecordedInput, Recording } from './recording.ts'

type OpenCall = { -readonly [K in keyof RecordedCall]: RecordedCall[K] }

/** Puts a recording together, message by message. */
export class RecordingBuilder {
  private readonly system: string[] = []
  private readonly answers: { blocks: ModelBlock[]; calls: OpenCall[] }[] = []
  private readonly inputs: RecordedInput[][] = [[]]
  private fresh = 0

  /** An id for a call that was recorded without one. */
  freshId(): string {
    return `recorded_${++this.fresh}`
  }

  instruct(content: readonly TextBlock[]): void {
    if (this.answers.length === 0 && this.inputs[0]?.length === 0) this.system.push(content.map(({ text }) => text).join(''))
    else this.inputs.at(-1)?.push({ kind: 'instruction', content })
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

  answerByName(name: string, result: string, isError: boolean): boolean {
    return this.fill((call) => call.name === name, result, isError)
  }

  build(model: string | undefined): Recording {
    const answers: readonly RecordedAnswer[] = this.answers
    return { system: this.system.length === 0 ? undefined : this.system.join('\n\n'), model, answers, inputs: this.inputs }
  }

  private fill(matches: (call: OpenCall) => boolean, result: string, isError: boolean): boolean {
    const open = (call: OpenCall): boolean => call.result === undefined && matches(call)
    const call = this.answers.at(-1)?.calls.find(open) ?? this.answers.flatMap(({ calls }) => calls).find(open)
    if (call === undefined) return false
    call.result = result
    if (isError) call.isError = true
    return true
  }
}
