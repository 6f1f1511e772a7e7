import type { StreamChunk } from '@loopguard/llm'

/** How long the model took, in whole milliseconds from the request. */
export interface ModelTimes {
  readonly durationMs: number
  /** Absent when nothing of an answer came. */
  readonly firstTokenMs?: number
}

const PIECES: ReadonlySet<StreamChunk['type']> = new Set(['text-delta', 'reasoning-delta', 'tool-call-delta', 'block-end'])

/** Measures one stream, from when it is made. */
export class StreamTimes {
  private readonly since = performance.now()
  private firstTokenMs: number | undefined

  /** An adapter need not send deltas: a whole block is a piece, too. What only announces a block, or counts, is none. */
  see({ type }: StreamChunk): void {
    if (this.firstTokenMs === undefined && PIECES.has(type)) this.firstTokenMs = this.passed()
  }

  /** Until now. */
  get read(): ModelTimes {
    const { firstTokenMs } = this
    return { durationMs: this.passed(), ...(firstTokenMs !== undefined && { firstTokenMs }) }
  }

  private passed(): number {
    return Math.round(performance.now() - this.since)
  }
}
