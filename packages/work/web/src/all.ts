/**
 * Runs all, side by side, under one signal that follows `upstream`. The first failure aborts the others and, when every one has
 * settled, is what is thrown. Nothing is left on `upstream`.
 */
export async function allOrFirstFailure<T>(
  works: readonly ((signal: AbortSignal) => Promise<T>)[],
  upstream: AbortSignal,
): Promise<readonly T[]> {
  upstream.throwIfAborted()
  const controller = new AbortController()
  const follow = (): void => controller.abort(upstream.reason)
  upstream.addEventListener('abort', follow, { once: true })
  let failure: { readonly thrown: unknown } | undefined
  try {
    const settled = await Promise.all(
      works.map(async (work) => {
        try {
          return await work(controller.signal)
        } catch (thrown) {
          failure ??= { thrown }
          controller.abort(thrown)
          return undefined
        }
      }),
    )
    if (failure !== undefined) throw failure.thrown
    return settled as readonly T[]
  } finally {
    upstream.removeEventListener('abort', follow)
  }
}
