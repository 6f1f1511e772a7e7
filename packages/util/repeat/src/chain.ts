import { digested } from './identity.ts'
import { show } from './show.ts'

/** The run of equal calls that an agent is in: the last tracked call and how often in a row it was made. */
export interface Chain {
  /** A digest of the last tracked call: 64 hexadecimal digits. */
  identity: string
  /** How often in a row it was made. */
  length: number
}

/** One run for each live agent object; it goes with that object. */
export class Chains {
  private readonly runs = new WeakMap<object, { key: string; length: number }>()

  /** Counts a call, and returns how many like it there have been in a row. */
  count(agent: object, key: string): number {
    const run = this.runs.get(agent)
    // Of a chain that was loaded the digest alone is known.
    if (run !== undefined && (run.key === key || run.key === digested(key))) {
      run.key = key
      return ++run.length
    }
    this.runs.set(agent, { key, length: 1 })
    return 1
  }

  forget(agent: object): void {
    this.runs.delete(agent)
  }

  save(agent: object): Chain | undefined {
    const run = this.runs.get(agent)
    return run && { identity: digested(run.key).slice(1), length: run.length }
  }

  /** @throws TypeError `REPEAT_BAD_CHAIN` */
  load(agent: object, chain: Chain): void {
    const { identity, length } = Object(chain) as Partial<Chain>
    if (typeof identity !== 'string' || !/^[\da-f]{64}$/.test(identity)) throw bad('identity', identity, '64 hexadecimal digits')
    if (!Number.isSafeInteger(length) || (length as number) < 1) throw bad('length', length, 'an integer >= 1')
    this.runs.set(agent, { key: `#${identity}`, length: length as number })
  }
}

function bad(key: string, value: unknown, wanted: string): TypeError {
  const message = `repeat-tool-reminder: \`${key}\` of a saved chain must be ${wanted}, got ${show(value)}: load what \`save\` gave`
  return Object.assign(new TypeError(message), { code: 'REPEAT_BAD_CHAIN' })
}
