import { digested } from './identity.ts'
import { show } from './show.ts'

/** The run of equal calls that an agent is in: the last tracked call and how often in a row it was made. */
export interface Chain {
  /** A digest of the last tracked call: 64 hexadecimal digits. */
  identity: string
  /** How often in a row it was made. */
  length: number
  /** A digest of what it came to, where results are compared. */
  result?: string | undefined
}

interface Run {
  key: string
  length: number
  result: string | undefined
}

/** One run for each live agent object; it goes with that object. */
export class Chains {
  private readonly runs = new WeakMap<object, Run>()

  /**
   * Counts a call, and returns how many like it there have been in a row.
   *
   * @param result - a digest of what it came to. One that differs from that of the call before begins a new run; where one of the two is
   * not known, the call alone decides.
   */
  count(agent: object, key: string, result?: string): number {
    const run = this.runs.get(agent)
    // Of a chain that was loaded the digest alone is known.
    const isSameCall = run !== undefined && (run.key === key || (run.key.startsWith('#') && run.key === digested(key)))
    if (isSameCall && (run.result === undefined || result === undefined || run.result === result)) {
      run.key = key
      run.result = result
      return ++run.length
    }
    this.runs.set(agent, { key, length: 1, result })
    return 1
  }

  forget(agent: object): void {
    this.runs.delete(agent)
  }

  save(agent: object): Chain | undefined {
    const run = this.runs.get(agent)
    return run && { identity: digested(run.key).slice(1), length: run.length, ...(run.result !== undefined && { result: run.result }) }
  }

  /** @throws TypeError `REPEAT_BAD_CHAIN` */
  load(agent: object, chain: Chain): void {
    const { identity, length, result } = Object(chain) as Partial<Chain>
    if (!isDigest(identity)) throw bad('identity', identity, '64 hexadecimal digits')
    if (!isCount(length)) throw bad('length', length, 'an integer >= 1')
    if (result !== undefined && !isDigest(result)) throw bad('result', result, '64 hexadecimal digits, or left out')
    this.runs.set(agent, { key: `#${identity}`, length, result })
  }
}

export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[\da-f]{64}$/.test(value)
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function bad(key: string, value: unknown, wanted: string): TypeError {
  const message = `repeat-tool-reminder: \`${key}\` of a saved chain must be ${wanted}, got ${show(value)}: load what \`save\` gave`
  return Object.assign(new TypeError(message), { code: 'REPEAT_BAD_CHAIN' })
}
