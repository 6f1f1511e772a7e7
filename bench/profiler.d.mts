/** A function of a profile: `us` is its self time in microseconds. */
export interface Profiled {
  readonly name: string
  readonly url: string
  readonly us: number
}

/** Self time of each function while `work` ran. */
export declare function profileOf(work: () => Promise<unknown>): Promise<Profiled[]>
/** Whose code a function is. */
export declare function ownerOf(of: Pick<Profiled, 'name' | 'url'>): string
/** A function as a row names it. */
export declare function labelOf(of: Pick<Profiled, 'name' | 'url'>): string
