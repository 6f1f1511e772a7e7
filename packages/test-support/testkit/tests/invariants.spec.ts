import { Context } from '@deepseek-ai/cordis'
import { createHarness, mountInvariants, watchContexts } from '@loopguard/testkit'
import { SessionStore } from '@loopguard/session'
import { describe, expect, it, onTestFinished } from 'vitest'

async function watched() {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  return { ctx, watch: await mountInvariants(ctx) }
}

describe('the watch on the invariants', () => {
  it('waits for the services that it checks', async () => {
    const { ctx, watch } = await watched()
    await ctx.plugin(SessionStore)
    expect(() => ctx.sessions.create('a').append('turn/end', { turn: 1, reason: { kind: 'completed' } })).toThrow(watch.violations[0])
    expect(watch.violations).toHaveLength(1)
  })

  it('tells a broken contract from a whole one', async () => {
    const { ctx, watch } = await watched()
    const own: { fail?: (message: string) => void } = {}
    await ctx.invariants.register('@acme/own', (_ctx, fail) => void (own.fail = fail))
    watch.assertNone()
    expect(() => watch.assertBroken('@acme/own', /./)).toThrow('no violation by "@acme/own" that says /./; there is none')
    expect(() => own.fail?.('it broke')).toThrow('it broke')
    expect(() => watch.assertNone()).toThrow(watch.violations[0])
    watch.assertBroken('@acme/own', /it broke$/)
    watch.assertBroken('@acme/own', 'it broke')
    expect(() => watch.assertBroken('@acme/other', /it broke$/)).toThrow(
      'no violation by "@acme/other" that says /it broke$/:\nInvariantError: invariant violated by "@acme/own": it broke',
    )
    for (const words of [/bent/, 'bent']) expect(() => watch.assertBroken('@acme/own', words)).toThrow('no violation')
  })

  it('sees that a violation was neither emitted nor logged', async () => {
    const { ctx, watch } = await watched()
    const own: { fail?: (message: string) => void } = {}
    await ctx.invariants.register('@acme/own', (_ctx, fail) => void (own.fail = fail))
    // A violation while one of the same package is being published is kept, no more.
    ctx.on('invariants/violation', () => own.fail?.('a second one'))
    expect(() => own.fail?.('the first one')).toThrow('the first one')
    watch.assertBroken('@acme/own', /the first one/)
    expect(() => watch.assertBroken('@acme/own', /a second one/)).toThrow('it was not emitted')
  })
})

describe('the watch on all contexts', () => {
  const nothing = { name: 'nothing', apply: () => {} }

  /** A program with a context of its own, that breaks a contract so many times. */
  async function program(times: number): Promise<Context> {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await ctx.plugin(SessionStore)
    await ctx.plugin(nothing)
    const session = ctx.sessions.create('a')
    for (let turn = 1; turn <= times; turn++) {
      try {
        session.append('turn/end', { turn, reason: { kind: 'completed' } })
      } catch {
        // A program may keep it to itself.
      }
    }
    return ctx
  }

  it('throws at its end what was broken in any, and nothing else', async () => {
    const end = watchContexts()
    await program(0)
    const ctx = await program(1)
    const more = watchContexts()
    await program(2)
    expect(more).toThrow('2 invariants were violated')
    expect(end).toThrow('invariant violated by "@loopguard/session": session "a": turn 1 ends while no turn is open')
    expect([...ctx.registry.values()].filter(({ name }) => name?.endsWith('-invariant'))).toHaveLength(8)
  })

  it('mounts nothing once it has ended, and nothing where the invariants are mounted by name or left out', async () => {
    const end = watchContexts()
    await using plain = await createHarness({ invariants: false })
    await using harness = await createHarness()
    const { ctx } = await watched()
    await ctx.plugin(nothing)
    await harness.ctx.plugin(nothing)
    expect(plain.ctx.get('invariants')).toBeUndefined()
    end()
    expect((await program(1)).get('invariants')).toBeUndefined()
    expect(end).not.toThrow()
  })
})

describe('all companions, loaded again a hundred times,', () => {
  /** How many listeners there are of each event, and how many effects on the fibers of the companions. */
  function footprint(ctx: Context) {
    const companions = companionsOf(ctx)
    const checks = ctx.invariants.registrations().flatMap(({ fiber }) => fiber ?? [])
    return {
      listeners: Object.fromEntries(Object.entries(ctx.events._hooks).map(([event, hooks]) => [event, hooks.length])),
      effects: [...companions, ...checks].reduce((sum, fiber) => sum + fiber.getEffects().length, 0),
      plugins: ctx.registry.size,
    }
  }

  const companionsOf = (ctx: Context) =>
    [...ctx.registry.values()].filter(({ name }) => name?.endsWith('-invariant')).flatMap(({ fibers }) => [...fibers])

  it('leave as many listeners and effects as they were, and still see what is broken', { timeout: 60_000 }, async () => {
    const harness = await createHarness({ script: [{ text: 'hi', repeat: 2 }] })
    const { ctx } = harness
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    const before = footprint(ctx)
    for (let round = 0; round < 100; round++) for (const fiber of companionsOf(ctx)) await fiber.restart()
    expect(companionsOf(ctx)).toHaveLength(8)
    expect(footprint(ctx)).toEqual(before)
    await harness.say(agent, 'hi again')
    expect(() => agent.session.append('turn/end', { turn: 9, reason: { kind: 'completed' } })).toThrow('turn 9')
    await expect(harness.dispose()).rejects.toThrow('invariant violated by "@loopguard/session"')
  })
})
