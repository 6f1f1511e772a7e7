import { createHash } from 'node:crypto'
import type { ToolExecution } from '@loopguard/tools'

/** The guard's configuration, as far as the recount needs it. */
export interface GuardConfig {
  readonly thresholds: readonly number[]
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

interface Chain {
  /** `undefined` for a call that the recount cannot tell from others. */
  readonly key: string | undefined
  count: number
}

/**
 * The rules of the guard, told anew in the plainest way, so that the guard is not checked against itself. It says nothing about an
 * agent whose past it has not seen, until that past no longer matters.
 */
export class RecountingModel {
  private config: GuardConfig | undefined
  private chains = new WeakMap<object, Chain | null>()
  /** Agents that are not in `chains` have made no call yet. */
  private all = false
  private known = new WeakSet<object>()

  /** Which guard is active now. One that was loaded under the eyes of the recount starts with no chain at all. */
  follow(config: GuardConfig | undefined, watched: boolean): void {
    if (config === this.config) return
    this.config = config
    this.chains = new WeakMap()
    this.known = new WeakSet()
    this.all = watched
  }

  /** The agent's chain is empty. */
  know(agent: object): void {
    this.chains.delete(agent)
    this.known.add(agent)
  }

  /** Whether a reminder is due at this call; `undefined` when the recount cannot say. */
  count({ agent, parent, name, arguments: args }: ToolExecution): boolean | undefined {
    const { config } = this
    if (config === undefined) return undefined
    if (agent === undefined || parent !== undefined || !tracks(config, name)) return false
    const key = keyOf(name, args)
    const last = this.chains.get(agent) ?? (this.all || this.known.has(agent) ? null : undefined)
    if (last === undefined) {
      // Seen for the first time: how often it was made before is anybody's guess.
      this.chains.set(agent, { key, count: NaN })
      return undefined
    }
    const count = last !== null && last.key === key ? last.count + 1 : 1
    this.chains.set(agent, { key, count: key === undefined ? NaN : count })
    return Number.isNaN(count) || key === undefined ? undefined : config.thresholds.includes(count)
  }
}

function tracks({ include, exclude }: GuardConfig, name: string): boolean {
  const matches = (pattern: string): boolean => matchesWildcard(pattern, name)
  return (include.length === 0 || include.some(matches)) && !exclude.some(matches)
}

/** Greedy, with one step back to the last star: quadratic at worst, and never more. */
function matchesWildcard(pattern: string, name: string): boolean {
  let p = 0
  let star = -1
  let resume = 0
  for (let n = 0; n < name.length;) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++
      resume = n
    } else if (p < pattern.length && pattern[p] === name[n]) {
      p++
      n++
    } else if (star >= 0) {
      p = star + 1
      n = ++resume
    } else return false
  }
  return pattern.slice(p).replaceAll('*', '') === ''
}

function keyOf(name: string, args: unknown): string | undefined {
  try {
    return createHash('sha256')
      .update(JSON.stringify([name, canonical(args)]))
      .digest('base64')
  } catch {
    // Nested too deeply for this plain way of writing it, or no JSON at all.
    return undefined
  }
}

function canonical(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  if (value === undefined) return 'undefined'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null))
    throw new TypeError('no JSON')
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`
}
