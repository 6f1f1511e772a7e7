import type { AuditedCall, Rule, Series } from './rules.ts'

const THRESHOLDS = [5, 10]
/** One call alone is a run of equal calls, of which another rule speaks. */
const LEAST_DISTINCT = 2

/**
 * Calls in a row that each repeat an earlier call and its result, two different ones at least. No guard reminds of them: what speaks for it
 * comes from one family of models (docs/evidence.md).
 */
export class NoNewsRule implements Rule {
  readonly name = 'no-news-run'
  private readonly tracks: (tool: string) => boolean
  private seen = new Set<string>()
  private run: Series = { calls: [] }
  private distinct = new Set<string>()
  private said = 0

  constructor(tracks: (tool: string) => boolean) {
    this.tracks = tracks
  }

  look(call: AuditedCall): Series | undefined {
    if (!this.tracks(call.name)) return undefined
    const key = `${call.identity} ${call.result}`
    if (!this.seen.has(key)) {
      this.seen.add(key)
      this.begin()
      return undefined
    }
    this.run.calls.push(call)
    this.distinct.add(call.identity)
    const threshold = THRESHOLDS[this.said] ?? Infinity
    if (this.run.calls.length < threshold || this.distinct.size < LEAST_DISTINCT) return undefined
    this.said++
    return this.run
  }

  reset(): void {
    // What comes next is news, and begins the next run.
    this.seen = new Set()
  }

  private begin(): void {
    this.run = { calls: [] }
    this.distinct = new Set()
    this.said = 0
  }
}
