/** What a process holds: bytes, and how many of each. */
export interface Residue {
  readonly heap: number
  readonly rss: number
  readonly signalListeners: number
  readonly processListeners: number
  readonly hooks: number
  readonly agents: number
  readonly sessions: number
  readonly timers: number
  readonly otherResources: number
}

/** What is left over at the end that was not there at the start, in words; the heap may grow by `bound` bytes. */
export declare function leftOver(start: Residue, end: Residue, bound: number): string[]
