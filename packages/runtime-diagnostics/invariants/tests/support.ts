import { Context, type Message } from '@deepseek-ai/cordis'
import InvariantRegistry, { type Config, type InvariantFailure, type InvariantInstaller, type Registration } from '@loopguard/invariants'

export interface Booted {
  readonly ctx: Context
  readonly registry: InvariantRegistry
  /** The fiber of the service. */
  readonly service: { readonly name: string; dispose(): Promise<void>; restart(): Promise<void> }
  /** What was logged at error level, as exporters see it. */
  readonly errors: Message[]
}

/** A root context with the service in it. */
export async function boot(config?: Config, Registry: typeof InvariantRegistry = InvariantRegistry): Promise<Booted> {
  const ctx = new Context()
  const errors: Message[] = []
  ctx.logger.exporter({
    export: (message) => {
      if (message.type === 'error') errors.push(message)
    },
  })
  const service = await ctx.plugin(Registry, config)
  return { ctx, registry: ctx.invariants, service, errors }
}

export interface Gate {
  readonly promise: Promise<void>
  readonly open: () => void
  readonly fail: (error: unknown) => void
}

export function gate(): Gate {
  let open!: () => void
  let fail!: (error: unknown) => void
  const promise = new Promise<void>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  promise.catch(() => {})
  return { promise, open, fail }
}

/** Lets everything run that needs no outside event. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export async function isSettled(thenable: PromiseLike<unknown>): Promise<boolean> {
  const unsettled = Symbol()
  const first = await Promise.race([Promise.resolve(thenable).catch(() => {}), settle().then(() => unsettled)])
  return first !== unsettled
}

/** Awaits the registration itself: `expect` would call it, because it is a function too. */
export const joined = async (registration: Registration): Promise<() => Promise<void>> => await registration

/** Registers `packageName` and hands out the `fail` of its checks. */
export async function failureOf(ctx: Context, packageName: string): Promise<InvariantFailure> {
  let fail!: InvariantFailure
  await ctx.invariants.register(packageName, (_child, failure) => {
    fail = failure
  })
  return fail
}

export const needing = (inject: string[], installer: InvariantInstaller): InvariantInstaller =>
  Object.assign((ctx: Context, fail: InvariantFailure) => installer(ctx, fail), { inject })

/** A plugin that provides `marks`; a second one, after the first has gone, is a replacement. */
export const provider = (ctx: Context, at: number) =>
  ctx.plugin({ name: 'provider', apply: (own: Context) => own.provide('marks', { at }) })

export const names = (registry: InvariantRegistry): string[] => registry.registrations().map(({ packageName }) => packageName)

/** What stays behind, if anything does: listeners by event, effects of the root, plugins. */
export function footprint(ctx: Context): { listeners: Record<string, number>; effects: number; plugins: number } {
  const hooks = Object.entries(ctx.events._hooks).map(([event, list]) => [event, list.length] as const)
  return {
    listeners: Object.fromEntries(hooks.filter(([, count]) => count > 0)),
    effects: ctx.fiber.getEffects().length,
    plugins: ctx.registry.size,
  }
}

declare module '@deepseek-ai/cordis' {
  interface Context {
    /** A service of the tests. */
    marks: { at: number }
    tag: string | undefined
  }
  interface Events {
    'test/ping'(value: number): void
    'test/around'(value: number, next: () => Promise<number>): Promise<number>
  }
}
