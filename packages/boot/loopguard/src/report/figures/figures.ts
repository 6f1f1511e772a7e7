import type { Session } from '../read/session.ts'
import { busyMs } from './busy.ts'
import { sparedAt, type Spared } from './caps.ts'
import type { CountedCall } from './counted.ts'
import { type Cost, costOf, type Prices } from './prices.ts'
import type { Series } from './series.ts'
import { firstOf, type ReportOptions } from './settings.ts'

/** The numbers of a session. */
export interface Figures {
  readonly calls: number
  readonly turns: number
  /** Answers of a model. */
  readonly requests: number
  /** Attempts that had no answer. */
  readonly failedRequests: number
  readonly reminders: number
  /** `undefined` where failures have no codes. */
  readonly timeouts: number | undefined
  readonly otherErrors: number
  /** Milliseconds in which a model answered, or a tool ran, however many at once; `undefined` without times. */
  readonly busyMs: { readonly model: number; readonly tools: number; readonly all: number } | undefined
  /** `undefined` where none were recorded. */
  readonly tokens: { readonly input: number; readonly output: number; readonly requestsWithout: number } | undefined
  /** `undefined` where no prices were given. */
  readonly cost: Cost | undefined
  readonly longestRun: { readonly name: string; readonly arguments: string; readonly length: number; readonly call: number } | undefined
  /** At the first threshold. */
  readonly spared: Spared
}

export function figuresOf(
  session: Session,
  calls: readonly CountedCall[],
  series: readonly Series[],
  options: ReportOptions,
  prices: Prices | undefined,
): Figures {
  const { requests, turns, reminders, startedAt, hasCodes } = session
  const answered = requests.filter(({ failure }) => failure === undefined)
  const count = (is: (call: CountedCall) => boolean): number => calls.filter(is).length
  return {
    calls: calls.length,
    turns: turns.length,
    requests: answered.length,
    failedRequests: requests.length - answered.length,
    reminders: reminders.length,
    timeouts: hasCodes ? count(({ isTimeout }) => isTimeout) : undefined,
    otherErrors: count(({ isError }) => isError),
    busyMs: startedAt === undefined ? undefined : { model: busyMs(requests), tools: busyMs(calls), all: busyMs([...requests, ...calls]) },
    tokens: tokensOf(answered),
    cost: prices === undefined ? undefined : costOf(requests, prices),
    longestRun: longestOf(series),
    spared: sparedAt(session, calls, firstOf(options), prices),
  }
}

function tokensOf(answered: Session['requests']): Figures['tokens'] {
  const told = answered.flatMap(({ usage }) => usage ?? [])
  if (told.length === 0) return undefined
  const sum = (key: 'inputTokens' | 'outputTokens'): number => told.reduce((total, usage) => total + usage[key], 0)
  return { input: sum('inputTokens'), output: sum('outputTokens'), requestsWithout: answered.length - told.length }
}

/** The first of the longest. A call that was made once is no run. */
function longestOf([first]: readonly Series[]): Figures['longestRun'] {
  const last = first?.calls.find(({ count }) => count === first.longest)
  if (first === undefined || last === undefined || first.longest < 2) return undefined
  return { name: last.name, arguments: last.arguments, length: first.longest, call: last.at }
}
