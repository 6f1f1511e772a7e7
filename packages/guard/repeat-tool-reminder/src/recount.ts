import { createHash } from 'node:crypto'
import type { ToolExecution } from '@loopguard/tools'

/** The guard's configuration, as far as the recount needs it. */
export interface GuardConfig {
  readonly thresholds: readonly number[]
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

interface Chain {
  readonly key: string
  /** `NaN`: some number that the recount does not know. */
  readonly count: number
}

const EMPTY: Chain = { key: '', count: 0 }
const UNKNOWN: Chain = { key: '', count: NaN }

/**
 * The rules of the guard, told anew in the plainest way, so that the guard is not checked against itself. One model recounts one
 * activation of one guard. It says nothing about an agent whose past it does not know, until that past no longer matters.
 */
export class RecountingModel {
  private readonly config: GuardConfig
  private readonly startsEmpty: (agent: object) => boolean
  private readonly chains = new WeakMap<object, Chain>()

  /** `startsEmpty`: whether the guard cannot have counted a call of this agent before. */
  constructor(config: GuardConfig, startsEmpty: (agent: object) => boolean) {
    this.config = config
    this.startsEmpty = startsEmpty
  }

  /** The agent's chain is empty. */
  reset(agent: object): void {
    this.chains.set(agent, EMPTY)
  }

  /** The agent's chain may be anything. */
  doubt(agent: object): void {
    this.chains.set(agent, UNKNOWN)
  }

  /** Whether a reminder is due at this call; `undefined` when the recount cannot say. */
  count({ agent, parent, name, arguments: args }: ToolExecution): boolean | undefined {
    if (typeof agent !== 'object' || agent === null || (parent ?? undefined) !== undefined || !tracks(this.config, name)) return false
    const key = keyOf(name, args)
    const last = this.chains.get(agent) ?? (this.startsEmpty(agent) ? EMPTY : UNKNOWN)
    const count = last.key === key ? last.count + 1 : last === UNKNOWN ? NaN : 1
    this.chains.set(agent, key === undefined ? UNKNOWN : { key, count })
    return key === undefined || Number.isNaN(count) ? undefined : this.config.thresholds.includes(count)
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

/** `undefined` for a call that the recount cannot tell from others. */
function keyOf(name: string, args: unknown): string | undefined {
  try {
    const text = JSON.stringify([name, canonical(args, { nodes: MAX_NODES }, MAX_DEPTH)])
    return text.length <= SHORT ? text : createHash('sha256').update(text).digest('base64')
  } catch {
    return undefined
  }
}

/** A longer text is not kept. A digest is no JSON: it cannot be taken for a text. */
const SHORT = 200

/** Far from where the plain way of writing it would overflow the stack, or go through a shared value again and again for ever. */
const MAX_DEPTH = 500
const MAX_NODES = 100_000

function canonical(value: unknown, left: { nodes: number }, depth: number): string {
  if (depth === 0 || left.nodes-- === 0) throw new RangeError('too large for the recount')
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  if (value === undefined) return 'undefined'
  const inner = (item: unknown): string => canonical(item, left, depth - 1)
  if (Array.isArray(value)) return `[${Array.from(value, inner).join()}]`
  if (typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null))
    throw new TypeError('no JSON')
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${inner(item)}`).join()}}`
}
