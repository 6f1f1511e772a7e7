import { type Context, type Fiber, RegistryService } from '@deepseek-ai/cordis'
import * as agentLoop from '@loopguard/agent-loop/invariant'
import { type Config as InvariantsConfig, type InvariantError, InvariantRegistry } from '@loopguard/invariants'
import * as invariants from '@loopguard/invariants/invariant'
import * as llm from '@loopguard/llm/invariant'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder/invariant'
import * as repeatedFailureReminder from '@loopguard/repeated-failure-reminder/invariant'
import * as session from '@loopguard/session/invariant'
import * as timeoutPolicy from '@loopguard/timeout-policy/invariant'
import * as tools from '@loopguard/tools/invariant'
import { captureErrors } from './error-log.ts'

/** By root, what {@link watchContexts} has mounted there; nothing where its maker says what is checked. */
const watched = new WeakMap<Context, readonly Fiber[]>()

const COMPANIONS = [invariants, llm, session, tools, agentLoop, timeoutPolicy, repeatToolReminder, repeatedFailureReminder]

/** What the invariants have seen of a context. */
export interface InvariantWatch {
  /** The latest 100 violations, oldest first; live, and still there when the context is gone. */
  readonly violations: readonly InvariantError[]
  /** @throws InvariantError when one contract was broken, AggregateError when more were. */
  assertNone(): void
  /**
   * For tests that break a contract on purpose.
   * @throws Error unless a violation by this package has these words, was emitted and was logged.
   */
  assertBroken(packageName: string, words: string | RegExp): void
}

/**
 * Mounts the registry of invariants and every companion of this repository: those of the host, and those of the guards, which have
 * nothing to say where no guard is. A companion whose service is not there yet begins when it is.
 */
export async function mountInvariants(ctx: Context, config: InvariantsConfig = {}): Promise<InvariantWatch> {
  await settle(ctx)
  const log = captureErrors(ctx)
  const emitted: InvariantError[] = []
  ctx.on('invariants/violation', (error) => void emitted.push(error))
  await ctx.plugin(InvariantRegistry, config)
  const { violations } = ctx.invariants
  for (const companion of COMPANIONS) await ctx.plugin(companion)
  return {
    violations,
    assertNone: () => assertNone(violations),
    assertBroken(packageName, words) {
      const says = (message: string): boolean => (typeof words === 'string' ? message.includes(words) : words.test(message))
      const found = violations.find((violation) => violation.packageName === packageName && says(violation.message))
      if (found === undefined) throw new Error(listed(`no violation by "${packageName}" that says ${words}`, violations))
      if (!emitted.includes(found)) throw new Error(`it was not emitted: ${found}`)
      if (!log.some(({ error }) => error === found)) throw new Error(`it was not logged: ${found}`)
    },
  }
}

/** From here on {@link watchContexts} leaves this context alone. */
export async function settle({ root }: Context): Promise<void> {
  const mounted = watched.get(root) ?? []
  watched.set(root, [])
  await Promise.all(mounted.map((fiber) => fiber.dispose()))
}

/**
 * For programs that make their contexts themselves, samples say: from now on the invariants are mounted in each context, before the first
 * plugin is. Contexts of `createHarness` and `mountInvariants` become what these make of them.
 * @returns the end of it, which throws as {@link InvariantWatch.assertNone} does.
 */
export function watchContexts(): () => void {
  const violations: InvariantError[] = []
  const { prototype } = RegistryService
  const original = Object.getOwnPropertyDescriptor(prototype, 'plugin') as TypedPropertyDescriptor<RegistryService['plugin']>
  const plugin = function (this: RegistryService, ...args: unknown[]): unknown {
    const { root } = this.ctx
    if (!watched.has(root)) {
      watched.set(root, [])
      root.on('invariants/violation', (error) => void violations.push(error))
      watched.set(
        root,
        [InvariantRegistry, ...COMPANIONS].map((each) => root.plugin(each).ctx.fiber),
      )
    }
    return Reflect.apply(original.value as never, this, args)
  }
  Object.defineProperty(prototype, 'plugin', { ...original, value: plugin })
  return () => {
    Object.defineProperty(prototype, 'plugin', original)
    assertNone(violations)
  }
}

function assertNone(violations: readonly InvariantError[]): void {
  const [first, ...others] = violations
  if (first === undefined) return
  if (others.length === 0) throw first
  throw new AggregateError(violations, listed(`${violations.length} invariants were violated`, violations))
}

function listed(title: string, violations: readonly InvariantError[]): string {
  return violations.length === 0 ? `${title}; there is none` : [`${title}:`, ...violations.map(String)].join('\n')
}
