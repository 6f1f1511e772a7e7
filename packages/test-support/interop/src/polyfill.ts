// The published harness asks for Node 22 because of this one function.
interface Resolvers {
  readonly promise: Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

const constructor: { withResolvers?: () => Resolvers } = Promise as never
constructor.withResolvers ??= (): Resolvers => {
  let resolve!: Resolvers['resolve']
  let reject!: Resolvers['reject']
  const promise = new Promise<unknown>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
