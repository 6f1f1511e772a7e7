import { readFileSync } from 'node:fs'
import { messageOf, show } from '@loopguard/kit'
import { LogFault } from '../../logs/fault.ts'
import type { ModelRequest, Usage } from '../read/session.ts'

/** What a million tokens of a model cost. */
interface Price {
  readonly input: number
  readonly output: number
  /** Default: as `input`. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** By model: `provider/model`, or `model` for any provider. */
export type Prices = Readonly<Record<string, Price>>

const KEYS = ['input', 'output', 'cacheRead', 'cacheWrite']
const NEEDED = ['input', 'output']

/** @throws LogFault that names the file, the key, the value and what is wanted. */
export function readPrices(file: string): Prices {
  let read: unknown
  try {
    read = JSON.parse(readFileSync(file, 'utf8'))
  } catch (fault) {
    throw new LogFault(`${file}: the prices cannot be read: ${messageOf(fault)}`)
  }
  if (!isRecord(read)) throw new LogFault(`${file}: expected an object of prices by model, got ${show(read)}`)
  for (const [model, price] of Object.entries(read)) {
    const where = `${file}: the price of ${show(model)}`
    if (!isRecord(price)) throw new LogFault(`${where} must be an object with \`input\` and \`output\`, got ${show(price)}`)
    for (const key of new Set([...NEEDED, ...Object.keys(price)])) {
      if (!KEYS.includes(key)) throw new LogFault(`${where} has an unknown key ${show(key)}; the keys are ${KEYS.join(', ')}`)
      const value = price[key]
      if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
        throw new LogFault(`${where}: \`${key}\` must be a number >= 0, for a million tokens, got ${show(value)}`)
    }
  }
  return read as Prices
}

/** What requests cost. */
export interface Cost {
  /** `undefined` when no request has a price. */
  readonly sum: number | undefined
  /** Models of which no price is given. */
  readonly unpriced: readonly string[]
}

export function costOf(requests: readonly ModelRequest[], prices: Prices): Cost {
  let sum: number | undefined
  const unpriced = new Set<string>()
  for (const { model, usage } of requests) {
    if (usage === undefined) continue
    const price = priceOf(model, prices)
    if (price === undefined) unpriced.add(model ?? 'a model without a name')
    else sum = (sum ?? 0) + costOfUsage(usage, price)
  }
  return { sum, unpriced: [...unpriced] }
}

function priceOf(model: string | undefined, prices: Prices): Price | undefined {
  if (model === undefined) return undefined
  const names = [model, model.slice(model.indexOf('/') + 1)]
  const known = names.find((name) => Object.hasOwn(prices, name))
  return known === undefined ? undefined : prices[known]
}

function costOfUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage, price: Price): number {
  const { input, output, cacheRead = input, cacheWrite = input } = price
  // The total holds those of the cache.
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  return (plain * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) / 1_000_000
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
