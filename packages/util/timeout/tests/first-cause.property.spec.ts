import { deadline, type Deadline } from '@loopguard/timeout'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

// A forest of deadlines, one code for all. Each follows the root signal, or a deadline before it, and is armed after `after` ms.
const plan = fc.array(
  fc.record({
    parent: fc.option(fc.nat({ max: 5 }), { nil: undefined }),
    timeoutMs: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(0)),
  }),
  { minLength: 1, maxLength: 6 },
)
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 15 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('dispose' as const), which: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), reason: fc.constantFrom('stop', 0, null, false, 'again') }) },
)

type Cause = { by: 'cancel'; reason: unknown } | { by: number }

/** What must come of it: one entry per deadline, `undefined` for one that never aborted. */
class Model {
  readonly causes: (Cause | undefined)[] = []
  private readonly nodes: { parent: number | undefined; due: number; following: boolean }[] = []
  private now = 0
  private cancelled: Cause | undefined

  arm(parent: number | undefined, timeoutMs: number) {
    const aborted = parent === undefined ? this.cancelled : this.causes[parent]
    this.nodes.push({ parent, due: timeoutMs > 0 && !aborted ? this.now + timeoutMs : Infinity, following: true })
    this.causes.push(aborted)
  }

  advance(ms: number) {
    for (this.now += ms; ;) {
      const due = this.nodes.map((node, id) => ({ ...node, id })).filter((node) => node.due <= this.now)
      const first = due.sort((a, b) => a.due - b.due || a.id - b.id)[0]
      if (!first) return
      this.settle(first.id, { by: first.id })
    }
  }

  cancel(reason: unknown) {
    if (this.cancelled) return
    this.cancelled = { by: 'cancel', reason }
    this.spread(undefined, this.cancelled)
  }

  /** Where there is no timer there is nothing to dispose of: that signal is the upstream itself. */
  dispose(id: number, timeoutMs: number) {
    const node = this.nodes[id]
    if (!node || timeoutMs <= 0) return
    Object.assign(node, { due: Infinity, following: false })
  }

  private settle(id: number, cause: Cause) {
    Object.assign(this.nodes[id] ?? {}, { due: Infinity, following: false })
    this.causes[id] = cause
    this.spread(id, cause)
  }

  private spread(parent: number | undefined, cause: Cause) {
    this.nodes.forEach((node, id) => {
      if (node.parent === parent && node.following) this.settle(id, cause)
    })
  }
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

it('in any schedule of cancels, timers and disposals the first cause wins, for nested deadlines as well', () => {
  fc.assert(
    fc.property(plan, fc.array(action, { maxLength: 30 }), fc.nat({ max: 5 }), (nodes, actions, gap) => {
      const root = new AbortController()
      const model = new Model()
      const limits: Deadline[] = []
      for (const { parent, timeoutMs } of nodes) {
        const above = parent !== undefined && parent < limits.length ? parent : undefined
        limits.push(deadline(above === undefined ? root.signal : limits[above]?.signal, timeoutMs, 'LATE'))
        model.arm(above, timeoutMs)
        vi.advanceTimersByTime(gap)
        model.advance(gap)
      }
      for (const step of actions) {
        if (step.kind === 'advance') {
          vi.advanceTimersByTime(step.ms)
          model.advance(step.ms)
        } else if (step.kind === 'cancel') {
          root.abort(step.reason)
          model.cancel(step.reason)
        } else {
          limits[step.which]?.[Symbol.dispose]()
          model.dispose(step.which, nodes[step.which]?.timeoutMs ?? 0)
        }
      }
      limits.forEach((limit, id) => {
        const cause = model.causes[id]
        expect(limit.signal.aborted).toBe(cause !== undefined)
        expect(limit.expiry !== undefined).toBe(cause?.by === id)
        expect(limit.signal.reason).toBe(cause?.by === 'cancel' ? cause.reason : cause && limits[cause.by]?.expiry)
        limit[Symbol.dispose]()
      })
      expect(vi.getTimerCount()).toBe(0)
    }),
    { numRuns: 1_000 },
  )
})
