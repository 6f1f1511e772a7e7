const ORIGINAL = Symbol.for('cordis.original')

/**
 * The plain object behind a service that Cordis hands out as a traced proxy: several times faster on a hot path. Only for methods that
 * need not know who calls; they see the context that the service was made in.
 */
export function plain<T extends object>(service: T): T {
  return (service as T & { readonly [ORIGINAL]?: T })[ORIGINAL] ?? service
}

/**
 * A listener that names itself as its original. Cordis still wraps it, to trace `this` and each argument of each call; a bus that asks
 * for the original, as ours does, calls it as it is, in half a microsecond less. For a listener that is given no service.
 */
export function untraced<T extends object>(listener: T): T {
  return Object.assign(listener, { [ORIGINAL]: listener })
}

const TRACKER = Symbol.for('cordis.tracker')

/**
 * Lets Cordis hand out a service without the shadow that it makes of service and context each time that a method is read: half the
 * cost of a short call. `this.ctx` in a method is still the caller's; what differs is that a service read through it is read as the
 * caller reads it, not as the service would. So it is for a service that uses its caller's context to own effects, and for nothing else.
 */
export function withoutShadow(service: object): void {
  ;(service as { readonly [TRACKER]: { noShadow?: boolean } })[TRACKER].noShadow = true
}
