/** Cordis hands out traced proxies of its services; the object behind one has no cost per call. */
const ORIGINAL = Symbol.for('cordis.original')

/** The service itself. Only for methods that need not know who calls: they see the context that the service was made in. */
export function plain<T extends object>(service: T): T {
  return (service as T & { readonly [ORIGINAL]?: T })[ORIGINAL] ?? service
}
