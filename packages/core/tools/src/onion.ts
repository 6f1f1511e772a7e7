import { type Bus, hooksOf, type Listener, listenersOf, ownerAt } from '@loopguard/cordis-internals'
import { HarnessError, hopIfDue, messageOf } from '@loopguard/kit'

/** One waterfall, ready to run. */
export interface Onion<T, R = T> {
  /** Name of the event, for error messages. */
  readonly event: string
  /** Outermost first. Each is called with `args` and its own `next`. */
  readonly listeners: readonly Listener[]
  readonly args: readonly unknown[]
  /** What the innermost `next` runs. */
  readonly center: () => T | PromiseLike<T>
  /**
   * Turns an answer into what the onion resolves to; the listeners further out see the answer itself. Throws for an invalid answer,
   * in words that follow "a listener" (`returned 5, not a decision`).
   */
  readonly parse?: (answer: unknown) => R
  /** Called before each listener; what it returns is called once that listener, and all that it started, has settled. */
  readonly enter?: () => () => void
  /** Plugin that owns the listener at an index, asked for only when there is something to say. */
  readonly ownerOf?: (index: number) => string
}

/**
 * The one asynchronous waterfall of the host.
 *
 * - `next()` runs the whole rest of the chain from its listener inwards, center included, each time it is called.
 * - The runs of one listener follow one another: a `next()` while its last one runs rejects with `NEXT_WHILE_RUNNING`, one after
 *   the listener has settled with `NEXT_AFTER_RETURN`. Such a rejection may be left unhandled.
 * - What a listener started is waited for before its own outcome counts, also when it threw or returned early.
 * - A synchronous throw is a rejection. An answer that `parse` refuses rejects with `BAD_ANSWER`, at the place of the culprit.
 */
export function onion<T, R = T>(options: Onion<T, R>): Promise<R> {
  return run(options, 0, ignore) as Promise<R>
}

/** The stack is given up after this many layers, so that a long chain does not overflow it. */
const LAYERS_PER_STACK = 256

async function run(options: Onion<unknown, unknown>, index: number, settled: () => void): Promise<unknown> {
  const listener = options.listeners[index]
  if (listener === undefined) {
    try {
      const answer = await options.center()
      return index === 0 && options.parse !== undefined ? options.parse(answer) : answer
    } finally {
      settled()
    }
  }
  if (index % LAYERS_PER_STACK === LAYERS_PER_STACK - 1) await Promise.resolve()

  let last: Promise<unknown> | undefined
  let isRunning = false
  let isOver = false
  const next = (): Promise<unknown> => {
    if (isOver) return refuse(options, index, 'after the listener had returned', 'NEXT_AFTER_RETURN')
    if (isRunning) return refuse(options, index, 'while its last next() was still running', 'NEXT_WHILE_RUNNING')
    isRunning = true
    const inwards = (): Promise<unknown> => run(options, index + 1, () => (isRunning = false))
    // A listener that tries again may do so for ever.
    const hop = last === undefined ? undefined : hopIfDue()
    last = hop === undefined ? inwards() : hop.then(inwards)
    last.catch(ignore)
    return last
  }

  const leave = options.enter?.()
  try {
    const answer = await listener(...options.args, next)
    const parsed = parse(options, index, answer)
    return index === 0 ? parsed : answer
  } finally {
    isOver = true
    if (isRunning) await last?.catch(ignore)
    leave?.()
    settled()
  }
}

const ignore = (): void => {}

function refuse(options: Onion<unknown, unknown>, index: number, when: string, code: string): Promise<never> {
  const refusal = Promise.reject(new HarnessError(`${options.event}: ${nameOf(options, index)} called next() ${when}`, code))
  refusal.catch(ignore)
  return refusal
}

function parse(options: Onion<unknown, unknown>, index: number, answer: unknown): unknown {
  if (options.parse === undefined) return answer
  try {
    return options.parse(answer)
  } catch (thrown) {
    const hint = answer === undefined ? ' (did it forget `return next()`?)' : ''
    throw new HarnessError(`${options.event}: ${nameOf(options, index)} ${messageOf(thrown)}${hint}`, 'BAD_ANSWER')
  }
}

function nameOf({ ownerOf }: Onion<unknown, unknown>, index: number): string {
  return ownerOf === undefined ? 'a listener' : `a listener of plugin "${ownerOf(index)}"`
}

/** The listeners of one dispatch, as Cordis resolved them at that moment. */
export interface Layers {
  readonly listeners: readonly Listener[]
  readonly ownerOf?: (index: number) => string
}

const NO_LAYERS: Layers = Object.freeze({ listeners: [] })

/**
 * Resolves the listeners of one waterfall. Cordis fires `internal/dispatch` meanwhile: a throw there is a veto, and the caller's.
 * That observer gets a copy of `args`, so that it cannot exchange what the listeners will see.
 */
export function layersOf(bus: Bus, carrier: object, event: string, args: readonly unknown[]): Layers {
  const listeners = listenersOf(bus, 'waterfall', carrier, event, args)
  if (listeners.length === 0) return NO_LAYERS
  const hooks = hooksOf(bus, event)
  return { listeners, ownerOf: (index) => ownerAt(hooks, carrier, index) }
}

/** Resolves the listeners of `event` for `carrier` and runs the onion over them. A veto through `internal/dispatch` rejects. */
export async function waterfall<T, R = T>(
  bus: Bus,
  carrier: object,
  options: Pick<Onion<T, R>, 'event' | 'args' | 'center' | 'parse'>,
): Promise<R> {
  return onion({ ...options, ...layersOf(bus, carrier, options.event, options.args) })
}
