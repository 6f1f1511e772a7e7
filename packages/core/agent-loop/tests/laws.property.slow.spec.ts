import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHarness, type Harness } from '@loopguard/testkit'
import { faultOfLog } from './support/laws.ts'
import { Models } from './support/models.ts'
import { story } from './support/story.ts'
import { type Action, type Answer, type Plan, type ToolName, World } from './support/world.ts'

const RUNS = process.env['LOOPGUARD_LONG'] === '1' ? 20_000 : 400

const tools: fc.Arbitrary<ToolName> = fc.constantFrom(
  'safe',
  'safe',
  'alone',
  'throws',
  'concludes',
  'defers',
  'nobody',
  'denied',
  'steers',
)
const answer: fc.Arbitrary<Answer> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('calls' as const), tools: fc.array(tools, { minLength: 1, maxLength: 5 }) }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constantFrom('text', 'slow', 'cut', 'fail', 'hang', 'broken') }) as fc.Arbitrary<Answer>, weight: 3 },
)
const sending: fc.Arbitrary<Action> = fc.record({
  kind: fc.constantFrom('followup', 'followup', 'steer', 'inject', 'resend'),
}) as fc.Arbitrary<Action>
const cancelling: fc.Arbitrary<Action> = fc.record({ kind: fc.constant('cancel' as const), keepInbox: fc.boolean() })
const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: sending, weight: 6 },
  { arbitrary: cancelling, weight: 3 },
  { arbitrary: fc.constant({ kind: 'dispose' as const }), weight: 1 },
)
const plan: fc.Arbitrary<Plan> = fc.record({
  answers: fc.array(answer, { maxLength: 8 }),
  preSteps: fc.array(fc.constantFrom('enter', 'enter', 'add', 'drop', 'reject', 'throw', 'garbage'), { maxLength: 6 }),
  errors: fc.array(fc.constantFrom('retry', 'pass', 'throw'), { maxLength: 3 }),
  stops: fc.array(fc.constantFrom('pass', 'steer', 'throw'), { maxLength: 4 }),
  actions: fc.array(action, { minLength: 1, maxLength: 10 }),
  reactions: fc.array(fc.record({ seq: fc.nat({ max: 40 }), ticks: fc.nat({ max: 12 }), action }), { maxLength: 3 }),
})

let harness: Harness
const models = new Models()

beforeAll(async () => {
  // Among the answers are broken streams.
  harness = await createHarness({ adapter: models, invariants: { package_blocklist: ['^@loopguard/llm$'] } })
})
afterAll(() => harness.dispose())

describe('whatever is sent, cancelled and disposed while whatever happens', () => {
  it('the laws of the loop hold', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(plan, fc.scheduler(), async (given, scheduler) => {
        const { violations } = harness.ctx.invariants
        const before = violations.length
        const world = new World(harness, models, given, scheduler)
        const { agent, deeds } = world
        try {
          await world.run()
          const { events } = agent.session
          expect(world.faults).toEqual([])
          expect(faultOfLog(events)).toBeUndefined()
          expect(entriesFault(world)).toBeUndefined()
          expect(world.statuses).toEqual(world.statuses.map((_status, index) => (index % 2 === 0 ? 'running' : 'idle')))
          expect(agent.status).toBe('idle')
          expect(restFault(world)).toBeUndefined()
          expect(pendingFault(world)).toBeUndefined()
          expect(agent.session.closed).toBe(deeds.some(({ kind }) => kind === 'dispose'))
          expect(violations.slice(before)).toEqual([])
        } catch (error) {
          throw new Error(
            `${String(error)}\n${story(agent.session).join('\n')}\n${deeds.map(({ kind, at }) => `${kind}@${at}`).join(' ')}`,
            { cause: error },
          )
        } finally {
          await agent.dispose()
        }
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: 400_000 },
    )
  })
})

/** What a pre-step let in stands right behind the start of its step, once, in order; what it did not let in, nowhere. */
function entriesFault({ agent, entries }: World): string | undefined {
  const { events } = agent.session
  const entered = new Set<string>()
  for (const [index, event] of events.entries()) {
    if (event.type !== 'step/start') continue
    const step = `${event.data.turn}.${event.data.step}`
    const ids = (entries.get(step) ?? []).map(({ id }) => id as string)
    const logged = events
      .slice(index + 1)
      .filter(({ type }) => type !== 'inbox/queued' && type !== 'inbox/removed')
      .slice(0, ids.length)
      .map((after) => (after.type === 'user/message' ? after.data.id : after.type))
    if (JSON.stringify(logged) !== JSON.stringify(ids)) return `step ${step} let in ${ids.join()} and logged ${logged.join()}`
    for (const id of ids) entered.add(id)
  }
  const contexts = events.flatMap((event) =>
    event.type === 'user/message' && event.data.source.kind === 'user' ? [event.data.id as string] : [],
  )
  return contexts.every((id) => entered.has(id)) ? undefined : 'a message is in the conversation that no step let in'
}

/** Who woke an idle agent got a turn, unless somebody cancelled; who waits waits for a reason. */
function restFault({ agent, deeds }: World): string | undefined {
  const { events } = agent.session
  const isOpen = (at: number): boolean => {
    const last = events.slice(0, at).findLast(({ type }) => type === 'turn/start' || type === 'turn/end')
    return last?.type === 'turn/start'
  }
  for (const [index, { kind, at }] of deeds.entries()) {
    if (kind !== 'followup' && kind !== 'steer' && kind !== 'resend') continue
    if (isOpen(at) || deeds.slice(index + 1).some((later) => later.kind === 'cancel' || later.kind === 'dispose')) continue
    if (deeds.slice(0, index).some((earlier) => earlier.kind === 'dispose')) continue
    if (!events.slice(at).some(({ type }) => type === 'turn/start')) return `${kind} at ${at} woke nobody`
  }
  return undefined
}

/** The queues are what the log says, in order. */
function pendingFault({ agent }: World): string | undefined {
  const pending = new Map<string, string>()
  for (const { type, data } of agent.session.events) {
    if (type === 'inbox/queued') pending.set(data.message.id, data.target)
    else if (type === 'inbox/removed') for (const id of data.ids) pending.delete(id)
  }
  const { nextStep, nextTurn } = agent.inbox
  const inMemory = [...nextStep.map(({ id }) => `${id} next-step`), ...nextTurn.map(({ id }) => `${id} next-turn`)].toSorted()
  const inLog = [...pending].map(([id, target]) => `${id} ${target}`).toSorted()
  return JSON.stringify(inMemory) === JSON.stringify(inLog)
    ? undefined
    : `${inLog.length} messages wait in the log, ${inMemory.length} in memory`
}
