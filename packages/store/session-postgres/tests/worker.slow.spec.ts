import type { Agent } from '@loopguard/agent-loop'
import { type LlmRequest, SessionId } from '@loopguard/llm'
import { createHarness, gate, type Harness, type ScriptEntry } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PostgresBackend } from '../src/backend.ts'
import { sendMail } from '../src/mailbox.ts'
import type { OnTakeover } from '../src/takeover.ts'
import { Worker } from '../src/worker.ts'
import { type Embedded, embedded } from './pglite.ts'
import { begin, eventOf, put, release, says, until } from './support.ts'

const fresh = embedded()
const A = SessionId('a')

interface Shop extends Harness {
  readonly backend: PostgresBackend
  readonly worker: Worker
  readonly told: string[]
  send(agent: string, words: string, id?: string): Promise<string | undefined>
}

interface ShopOptions {
  readonly script?: readonly ScriptEntry[]
  readonly onTakeover?: OnTakeover
  readonly max?: number
  readonly maxTakeovers?: number
  readonly database?: ReturnType<Embedded['database']>
}

/** A worker in this process, on a host of its own. */
async function shop(
  tables: Embedded,
  { script = [{ text: 'ok', repeat: Infinity }], onTakeover = 'wait', max = 10, maxTakeovers = 3, database }: ShopOptions = {},
): Promise<Shop> {
  const backend = await tables.worker('shop', { leaseMs: 2000, ...(database !== undefined && { database }) })
  const harness = await createHarness({ sessions: backend, script })
  const told: string[] = []
  const worker = new Worker(backend, maxTakeovers, {
    loop: harness.ctx.agentLoop,
    max,
    optionsOf: () => ({ provider: 'scripted', model: 'm', onTakeover }),
    tell: (line) => told.push(line),
  })
  onTestFinished(async () => {
    await worker.drain(1)
    await harness.ctx.fiber.dispose()
  })
  return {
    ...harness,
    backend,
    worker,
    told,
    send: async (agent, words, id) => sendMail(backend.database, backend.sql, agent, says(words, id)),
  }
}

/** Neither mail nor an agent is left. */
const isQuiet = async (tables: Embedded): Promise<void> =>
  until(
    async () =>
      (await tables.query('SELECT FROM $schema.session WHERE holder IS NOT NULL UNION ALL SELECT FROM $schema.mail')).length === 0,
  )

async function wordsIn({ backend }: Shop, id: string): Promise<string[]> {
  return (await backend.read(SessionId(id))).flatMap(({ type, data }) =>
    type === 'user/message' ? data.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : [],
  )
}

async function endsIn({ backend }: Shop, id: string): Promise<string[]> {
  return (await backend.read(SessionId(id))).flatMap(({ type, data }) => (type === 'turn/end' ? [data.reason.kind] : []))
}

/** What a worker left that is dead now. */
async function corpse(tables: Embedded, id: string, ...events: readonly (readonly [type: string, data: unknown])[]): Promise<void> {
  const dead = await tables.worker('dead')
  const sink = await begin(dead, id)
  put(sink, ...events.map(([type, data], index) => eventOf(index + 1, type, data)))
  await sink.flush?.()
  await tables.query(`UPDATE $schema.worker SET lease_until = now() - interval '1 second' WHERE n = $1`, [dead.lease.n])
}

const queued = (words: string, id: string) => ['inbox/queued', { target: 'next-turn', message: says(words, id) }] as const
const OPEN_TURN = [
  ['turn/start', { turn: 1 }],
  ['step/start', { turn: 1, step: 1 }],
  ['user/message', says('begun')],
] as const

describe('a worker', () => {
  it('makes the agent that has mail, brings it all in order, and gives it back', async () => {
    const tables = await fresh()
    const { backend } = await shop(tables, { max: 1 }).then(async (one) => (await one.worker.drain(1000), one))
    for (const words of ['one', 'two', 'three']) await sendMail(backend.database, backend.sql, 'a', says(words))
    const two = await shop(tables)
    await isQuiet(tables)
    expect(await wordsIn(two, 'a')).toEqual(['one', 'two', 'three'])
    expect(two.ctx.agentLoop.list()).toEqual([])
    await two.send('a', 'four')
    await isQuiet(tables)
    expect(await wordsIn(two, 'a')).toEqual(['one', 'two', 'three', 'four'])
    expect(two.told).toEqual([])
  })

  it('runs an agent that it claims again before it has heard that it was given back', async () => {
    const tables = await fresh()
    const database = tables.database()
    const [given, heard] = [gate(), gate()]
    const one = await shop(tables, { database })
    database.after = async (text) => {
      if (text !== one.backend.sql.release || given.isOpen) return
      given.open()
      await heard.opened
    }
    await one.send('a', 'one')
    await given.opened
    await one.send('a', 'two')
    // Claimed again, by the look that the notification or the timer brings.
    await until(async () => (await tables.query('SELECT FROM $schema.session WHERE holder IS NOT NULL')).length > 0)
    // A round trip later the worker has heard of it.
    await tables.query('SELECT 1')
    heard.open()
    await isQuiet(tables)
    expect([await wordsIn(one, 'a'), one.told]).toEqual([['one', 'two'], []])
  })

  it('brings mail to an agent that runs, and each message once, also when it is sent again', async () => {
    const tables = await fresh()
    const [asked, answer] = [gate(), gate()]
    const slow: ScriptEntry = async () => {
      asked.open()
      await answer.opened
      return { text: 'ok' }
    }
    const here = await shop(tables, { script: [slow, { text: 'ok', repeat: Infinity }] })
    await here.send('a', 'one', 'm1')
    await asked.opened
    await here.send('a', 'two', 'm2')
    await here.send('a', 'one', 'm1')
    await until(() => here.ctx.agentLoop.get(A)?.inbox.nextTurn.length === 1)
    answer.open()
    await isQuiet(tables)
    await here.send('a', 'two', 'm2')
    await isQuiet(tables)
    expect(await wordsIn(here, 'a')).toEqual(['one', 'two'])
  })

  it('runs no more agents at once than it may', async () => {
    const tables = await fresh()
    const answer = gate()
    const asked: LlmRequest[] = []
    const slow = (request: LlmRequest) => (asked.push(request), answer.opened.then(() => ({ text: 'ok' })))
    const here = await shop(tables, { max: 2, script: Array.from({ length: 5 }, () => slow) })
    for (const id of ['a', 'b', 'c', 'd', 'e']) await here.send(id, 'go')
    await until(() => asked.length === 2)
    expect(here.worker.agents).toHaveLength(2)
    answer.open()
    await isQuiet(tables)
    expect(asked).toHaveLength(5)
  })

  it('gives tools the epoch, which grows with each time that the log is taken', async () => {
    const tables = await fresh()
    const here = await shop(tables, { script: [{ calls: [{ name: 'note', arguments: {} }] }, { text: 'ok' }].flatMap((entry) => [entry]) })
    here.model.push({ calls: [{ name: 'note', arguments: {} }] }, { text: 'ok' })
    const epochs: (number | undefined)[] = []
    here.ctx.tools.register({
      name: 'note',
      description: 'Notes.',
      parameters: {},
      execute: (_args, { agent }) => (epochs.push((agent as Agent).session.epoch), 'ok'),
    })
    await here.send('a', 'one')
    await isQuiet(tables)
    await here.send('a', 'two')
    await isQuiet(tables)
    expect(epochs).toHaveLength(2)
    expect(epochs[1]).toBeGreaterThan(epochs[0] as number)
  })

  it('drops mail that is no message, and says so', async () => {
    const tables = await fresh()
    const here = await shop(tables)
    await tables.query(`INSERT INTO $schema.session (id) VALUES ('a')`)
    await tables.query(`INSERT INTO $schema.mail (session, message_id, message) VALUES ('a', 'm1', '{"id":'), ('a', 'm2', '{"id":"m2"}')`)
    await isQuiet(tables)
    expect(here.told).toEqual([
      expect.stringMatching(/^agent "a": mail "m1" was dropped: /),
      expect.stringMatching(/^agent "a": mail "m2" was dropped: agent-loop: message\.role must be "user"/),
    ])
  })

  it('keeps what waits in the inbox when a turn fails, until the next message', async () => {
    const tables = await fresh()
    const [asked, fail] = [gate(), gate()]
    const failing: ScriptEntry = async () => {
      asked.open()
      await fail.opened
      throw new Error('the model is away')
    }
    const here = await shop(tables, { script: [failing, { text: 'ok', repeat: Infinity }] })
    await here.send('a', 'one')
    await asked.opened
    await here.send('a', 'two')
    await until(() => here.ctx.agentLoop.get(A)?.inbox.nextTurn.length === 1)
    fail.open()
    await isQuiet(tables)
    expect(await endsIn(here, 'a')).toEqual(['error'])
    await here.send('a', 'three')
    await isQuiet(tables)
    expect(await wordsIn(here, 'a')).toEqual(['one', 'two', 'three'])
  })
})

describe('what a dead worker has left', () => {
  it('is repaired, and by default its turn waits for a message', async () => {
    const tables = await fresh()
    await corpse(tables, 'a', ...OPEN_TURN)
    const here = await shop(tables)
    await isQuiet(tables)
    expect(await endsIn(here, 'a')).toEqual(['interrupted'])
    expect(here.model.count).toBe(0)
    await here.send('a', 'go')
    await isQuiet(tables)
    expect(await endsIn(here, 'a')).toEqual(['interrupted', 'completed'])
  })

  it('goes on by itself where the row says so, and the model is told why', async () => {
    const tables = await fresh()
    await corpse(tables, 'a', ...OPEN_TURN)
    const here = await shop(tables, { onTakeover: 'resume' })
    await isQuiet(tables)
    expect(await endsIn(here, 'a')).toEqual(['interrupted', 'completed'])
    expect(await wordsIn(here, 'a')).toEqual(['begun', expect.stringMatching(/^The process that ran this turn ended before the turn did/)])
  })

  it('is visited also when no turn is open and no mail is there: what its agent had queued for itself runs', async () => {
    const tables = await fresh()
    await corpse(tables, 'a', queued('one', 'm1'), queued('two', 'm2'))
    const here = await shop(tables)
    await isQuiet(tables)
    expect(await wordsIn(here, 'a')).toEqual(['one', 'two'])
  })

  it('of a child is repaired and goes no further: its parent asks anew', async () => {
    const tables = await fresh()
    const dead = await tables.worker('dead')
    const sink = dead.create(SessionId('child'))
    put(
      sink,
      eventOf(0, 'session/start', { version: 1, id: 'child', parent: 'a' }),
      ...OPEN_TURN.map(([type, data], at) => eventOf(at + 1, type, data)),
    )
    await sink.flush?.()
    await tables.query(`UPDATE $schema.worker SET lease_until = now() - interval '1 second' WHERE n = $1`, [dead.lease.n])
    const here = await shop(tables, { onTakeover: 'resume' })
    await isQuiet(tables)
    expect(await endsIn(here, 'child')).toEqual(['interrupted'])
    expect(here.model.count).toBe(0)
  })

  it('comes before mail', async () => {
    const tables = await fresh()
    const [sender] = [await tables.worker('sender')]
    await sendMail(sender.database, sender.sql, 'early', says('go'))
    await corpse(tables, 'late', ...OPEN_TURN)
    const order: string[] = []
    const note: ScriptEntry = ({ messages }) => (order.push(messages.length === 1 ? 'early' : 'late'), { text: 'ok' })
    await shop(tables, { max: 1, onTakeover: 'resume', script: [note, note] })
    await isQuiet(tables)
    expect(order).toEqual(['late', 'early'])
  })

  it('is parked and named once it has ended three workers, and goes on when somebody says so', async () => {
    const tables = await fresh()
    await corpse(tables, 'a', ...OPEN_TURN)
    await corpse(tables, 'idle')
    await tables.query(`UPDATE $schema.session SET takeovers = 2`)
    const here = await shop(tables, { onTakeover: 'resume' })
    await isQuiet(tables)
    expect(here.told).toEqual(['agent "a" is parked: its turn was open when 3 workers ended (loopguard send --unpark lets it go on)'])
    expect(await here.send('a', 'go')).toBe('its turn was open when 3 workers ended')
    await until(async () => (await tables.query('SELECT FROM $schema.mail')).length === 1)
    expect(here.model.count).toBe(0)
    await here.backend.database.query(here.backend.sql.unpark, ['a'])
    await isQuiet(tables)
    // The turn goes on, and the message has one of its own.
    expect(await endsIn(here, 'a')).toEqual(['interrupted', 'completed', 'completed'])
  })

  it('is parked and named when its log is damaged', async () => {
    const tables = await fresh()
    await corpse(tables, 'a', ...OPEN_TURN)
    await tables.query(`DELETE FROM $schema.event WHERE seq = 1`)
    const here = await shop(tables)
    await until(() => here.told.length > 0)
    expect(here.told).toEqual(['agent "a" is parked: session "a", event 1: it is missing, and event 2 is there'])
    await isQuiet(tables)
    expect(await tables.query('SELECT parked FROM $schema.session')).toEqual([
      { parked: 'session "a", event 1: it is missing, and event 2 is there' },
    ])
  })
})

it('a worker that was stopped between claim and create leaves alone what another one has made meanwhile', async () => {
  const tables = await fresh()
  const here = await shop(tables)
  const database = here.backend.database as ReturnType<Embedded['database']>
  const woken = gate()
  database.before = async (text) => {
    if (!text.includes('INSERT INTO') || !text.includes('.session AS s')) return
    database.before = () => {}
    // Another one has taken it over, run it and given it back.
    const other = await tables.worker('other')
    await tables.query('UPDATE $schema.session SET epoch = epoch + 1, holder = $1', [other.lease.n])
    const sink = await begin(other, 'a')
    await release(sink)
    woken.open()
  }
  await here.send('a', 'one')
  await woken.opened
  await until(() => here.told.length > 0)
  expect(here.told).toEqual(['agent "a" could not go on: session "a" exists already'])
  await isQuiet(tables)
  expect(await wordsIn(here, 'a')).toEqual(['one'])
  expect(await tables.query('SELECT parked FROM $schema.session')).toEqual([{ parked: null }])
})

describe('a worker that drains', () => {
  it('lets agents end what they have begun, and takes nothing more', async () => {
    const tables = await fresh()
    const [asked, answer] = [gate(), gate()]
    const slow: ScriptEntry = async () => {
      asked.open()
      await answer.opened
      return { text: 'ok' }
    }
    const here = await shop(tables, { script: [slow, { text: 'ok', repeat: Infinity }] })
    await here.send('a', 'one')
    await asked.opened
    const drained = here.worker.drain(60_000)
    await here.send('a', 'two')
    await here.send('b', 'three')
    answer.open()
    expect(await drained).toBe(true)
    expect(await endsIn(here, 'a')).toEqual(['completed'])
    expect(await tables.query('SELECT session FROM $schema.mail ORDER BY n')).toEqual([{ session: 'a' }, { session: 'b' }])
    expect(await tables.query('SELECT FROM $schema.session WHERE holder IS NOT NULL')).toEqual([])
  })

  it('leaves to the next worker what has not ended in time, and that is no takeover', async () => {
    const tables = await fresh()
    const asked = gate()
    const hanging: ScriptEntry = () => (asked.open(), 'hang')
    const here = await shop(tables, { script: [hanging] })
    await here.send('a', 'one', 'm1')
    await asked.opened
    await here.send('a', 'two', 'm2')
    await until(() => here.ctx.agentLoop.get(A)?.inbox.nextTurn.length === 1)
    expect(await here.worker.drain(1)).toBe(false)
    expect(here.told).toEqual(['1 agents have not ended within 1 ms: they are left to the next worker'])
    const next = await shop(tables, { onTakeover: 'resume' })
    await isQuiet(tables)
    expect(await endsIn(next, 'a')).toEqual(['interrupted', 'completed'])
    expect(await wordsIn(next, 'a')).toEqual(['one', 'two'])
    expect(await tables.query('SELECT takeovers FROM $schema.session')).toEqual([{ takeovers: 0 }])
  })
})

it('an agent whose log is taken over is cancelled with that cause, and keeps its inbox', async () => {
  const tables = await fresh()
  const asked = gate()
  const here = await shop(tables, { script: [() => (asked.open(), 'hang')] })
  const causes: unknown[] = []
  await here.send('a', 'one')
  await asked.opened
  const agent = here.ctx.agentLoop.get(A) as Agent
  const signal = here.model.requests[0]?.signal as AbortSignal
  signal.addEventListener('abort', () => causes.push((signal.reason as Error).cause))
  await tables.query('UPDATE $schema.session SET epoch = epoch + 1, holder = 0, busy = false')
  await tables.query(`UPDATE $schema.session SET parked = NULL`)
  agent.session.append('x/note' as never, 1 as never)
  await agent.whenIdle()
  expect(causes).toEqual([{ kind: 'session-lost' }])
  expect(agent.session.lost?.aborted).toBe(true)
})
