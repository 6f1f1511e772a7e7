/** Longest delay that a timer takes, in milliseconds: Node fires anything longer after 1 ms. */
export const MAX_TIMER_DELAY_MS = 2_147_483_647

/**
 * `min(requested ?? def, max)`, in milliseconds: the timeout that a caller gets who may ask for one.
 * `requested`, when given, and `def` and `max` always, must be positive and finite; `max` must fit a timer. Zero is no public "off".
 *
 * @param name what the error calls `requested`: the caller's own field.
 * @throws {RangeError} code `TIMEOUT_OUT_OF_RANGE`, naming the field and the value.
 */
export function clampTimeout(requested: number | undefined, def: number, max: number, name = 'timeoutMs'): number {
  if (requested !== undefined && !isPositiveFinite(requested)) throw outOfRange(name, requested, 'a positive finite number')
  if (!isPositiveFinite(def)) throw outOfRange('def', def, 'a positive finite number')
  if (!isTimerDelay(max)) throw outOfRange('max', max, timerDelay)
  return Math.min(requested ?? def, max)
}

/** What {@link isTimerDelay} wants, in words. */
export const timerDelay: string = `a positive finite number no greater than ${MAX_TIMER_DELAY_MS}`

/** Whether a timer that is set to `value` milliseconds fires then. */
export function isTimerDelay(value: unknown): boolean {
  return isPositiveFinite(value) && value <= MAX_TIMER_DELAY_MS
}

/**
 * Refuses a budget that no timer can hold, for those who take it long before the call.
 *
 * @param field what the error calls it.
 * @throws {RangeError} code `TIMEOUT_OUT_OF_RANGE`, naming the field and the value.
 */
export function assertTimeout(field: string, timeoutMs: number): void {
  if (!isTimerDelay(timeoutMs)) throw outOfRange(field, timeoutMs, timerDelay)
}

/** A `RangeError` with code `TIMEOUT_OUT_OF_RANGE`. */
export function outOfRange(field: string, value: unknown, wanted: string): RangeError {
  return Object.assign(new RangeError(`${field} must be ${wanted}, got ${show(value)}`), { code: 'TIMEOUT_OUT_OF_RANGE' })
}

/**
 * Refuses what is no signal and no code, so that nothing is armed for a caller who mixed up the arguments.
 *
 * @throws {TypeError} code `TIMEOUT_BAD_ARGUMENT`, naming the argument and the value.
 */
export function checkSource(door: string, upstream: AbortSignal | undefined, code: string): void {
  if (upstream !== undefined && !isSignal(upstream)) throw badArgument(`${door}: upstream`, upstream, 'an AbortSignal or undefined')
  if (typeof code !== 'string') throw badArgument(`${door}: code`, code, 'a string')
}

function isPositiveFinite(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < Infinity
}

// By shape, not by class: a signal of another realm or of a polyfill is a signal.
function isSignal(value: { aborted?: unknown; addEventListener?: unknown } | null): boolean {
  return typeof value?.aborted === 'boolean' && typeof value.addEventListener === 'function'
}

function badArgument(field: string, value: unknown, wanted: string): TypeError {
  return Object.assign(new TypeError(`${field} must be ${wanted}, got ${show(value)}`), { code: 'TIMEOUT_BAD_ARGUMENT' })
}

function show(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? JSON.stringify(value) : Object.prototype.toString.call(value)
}
