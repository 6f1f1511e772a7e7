import { LlmAdapter, LlmError, type LlmRequest, type StreamChunk } from '@loopguard/llm'
import { chunksOf, type ScriptedReply, type ScriptEntry } from './script.ts'

export interface ScriptedModelOptions {
  /** `false` keeps no requests: each holds its whole history, which adds up over thousands of steps. Default `true`. */
  readonly record?: boolean
}

/**
 * A model that reads its answers off a script, one entry for each request. What it was asked stands in
 * `requests`. A script that is used up is a failure (`SCRIPT_EXHAUSTED`), never a silent stop.
 */
export class ScriptedModel extends LlmAdapter {
  /** Every request so far, oldest first. */
  readonly requests: LlmRequest[] = []
  private readonly script: ScriptEntry[]
  private readonly record: boolean
  private asked = 0
  private entry = 0
  private uses = 0
  private calls = 0

  /** @throws RangeError for a `repeat` that is no integer >= 1, nor `Infinity`. */
  constructor(script: readonly ScriptEntry[] = [], { record = true }: ScriptedModelOptions = {}) {
    super()
    this.script = []
    this.record = record
    this.push(...script)
  }

  /** How many requests were answered, or are being answered. */
  get count(): number {
    return this.asked
  }

  /** Adds entries at the end. @throws RangeError as the constructor does. */
  push(...entries: readonly ScriptEntry[]): void {
    for (const [index, entry] of entries.entries()) checkRepeat(entry, this.script.length + index)
    this.script.push(...entries)
  }

  async *stream(request: LlmRequest): AsyncGenerator<StreamChunk, void, undefined> {
    if (this.record) this.requests.push(request)
    const index = this.asked++
    const entry = this.take(index)
    const reply = typeof entry === 'function' ? await entry(request, index) : entry
    if (reply === 'hang') await aborted(request.signal)
    else yield* untilAborted(this.chunks(reply), request.signal)
  }

  private take(index: number): ScriptEntry {
    const entry = this.script[this.entry]
    if (entry === undefined) {
      const length = this.script.length
      throw new LlmError(
        `the script is used up: request ${index + 1} came, and ${length === 0 ? 'the script has no entry' : `its ${length === 1 ? 'one entry was' : `${length} entries were`} used by the ${index} before it`}`,
        'SCRIPT_EXHAUSTED',
      )
    }
    if (++this.uses >= timesOf(entry)) {
      this.entry++
      this.uses = 0
    }
    return entry
  }

  private chunks(reply: Exclude<ScriptedReply, 'hang'>): readonly StreamChunk[] {
    return isChunks(reply) ? reply : chunksOf(reply, () => `call_${++this.calls}`)
  }
}

function isChunks(reply: Exclude<ScriptedReply, 'hang'>): reply is readonly StreamChunk[] {
  return Array.isArray(reply)
}

function timesOf(entry: ScriptEntry): number {
  return typeof entry === 'object' && 'repeat' in entry ? (entry.repeat ?? 1) : 1
}

function checkRepeat(entry: ScriptEntry, index: number): void {
  const times = timesOf(entry)
  if (times === Infinity || (Number.isInteger(times) && times >= 1)) return
  throw new RangeError(`scripted model: \`repeat\` must be an integer >= 1 or Infinity, got ${String(times)} (at entry ${index})`)
}

function* untilAborted(chunks: readonly StreamChunk[], signal: AbortSignal): Generator<StreamChunk> {
  for (const chunk of chunks) {
    signal.throwIfAborted()
    yield chunk
  }
}

/** Rejects with the signal's reason when it aborts, and not before. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}
