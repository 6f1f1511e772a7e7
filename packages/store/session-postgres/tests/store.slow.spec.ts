import { HarnessError } from '@loopguard/kit'
import { SessionId } from '@loopguard/llm'
import { describe, expect, it } from 'vitest'
import { sendMail } from '../src/mailbox.ts'
import { checkSchema, migrate } from '../src/schema.ts'
import { type Embedded, embedded } from './pglite.ts'
import { begin, eventOf, put, release, says, startOf, until } from './support.ts'

const fresh = embedded()
const A = SessionId('a')
const away = (): HarnessError => new HarnessError('away', 'DATABASE_UNREACHABLE')

interface Head {
  readonly epoch: number
  readonly holder: number | null
  readonly next_seq: number
  readonly busy: boolean
  readonly takeovers: number
}

async function headOf({ query }: Embedded, id: string): Promise<Head | undefined> {
  return (await query<Head>('SELECT * FROM $schema.session WHERE id = $1', [id]))[0]
}

/** The lease of a worker is over; it does not know yet. */
async function expire({ query }: Embedded, n: number): Promise<void> {
  await query(`UPDATE $schema.worker SET lease_until = now() - interval '1 second' WHERE n = $1`, [n])
}

const linesOf = async ({ query }: Embedded, id: string): Promise<number> =>
  (await query('SELECT FROM $schema.event WHERE session = $1', [id])).length

describe('fencing', () => {
  it('an append of a stale epoch writes nothing, drops no mail, and is SESSION_LOST for good', async () => {
    const tables = await fresh()
    const [old, next] = [await tables.worker('old'), await tables.worker('next', { leaseMs: 500 })]
    const sink = await begin(old, 'a')
    await sendMail(old.database, old.sql, 'a', says('hello', 'm1'))
    await expire(tables, old.lease.n)
    const { events, log } = await next.load(A)
    expect(events).toHaveLength(1)
    put(sink, eventOf(1, 'inbox/queued', { target: 'next-turn', message: says('hello', 'm1') }))
    await expect(sink.flush?.()).rejects.toMatchObject({ code: 'SESSION_LOST' })
    expect(sink.lost?.aborted).toBe(true)
    expect(() => sink.encode(eventOf(1, 'x/n', 1))).toThrow(/taken over/)
    expect(await linesOf(tables, 'a')).toBe(1)
    expect(await tables.query('SELECT FROM $schema.mail')).toHaveLength(1)
    expect([sink.epoch, log.epoch]).toEqual([1, 2])
    // What it gives back is not its own any more.
    await release(sink)
    expect(await headOf(tables, 'a')).toMatchObject({ holder: next.lease.n, epoch: 2 })
  })

  it('a session of a worker whose lease runs is SESSION_OPEN, and its holder is named', async () => {
    const tables = await fresh()
    const [one, two] = [await tables.worker('night shift'), await tables.worker('two')]
    await begin(one, 'a')
    await expect(two.load(A)).rejects.toMatchObject({ code: 'SESSION_OPEN', message: 'session "a" is open in worker night shift' })
    const sink = two.create(A)
    await expect(sink.flush?.()).rejects.toMatchObject({ code: 'SESSION_EXISTS' })
    await release(sink).catch(() => {})
    expect(await headOf(tables, 'a')).toMatchObject({ holder: one.lease.n, epoch: 1 })
  })

  it('a log that has grown behind our back takes no more', async () => {
    const tables = await fresh()
    const sink = await begin(await tables.worker(), 'a')
    await tables.query('UPDATE $schema.session SET next_seq = 7')
    put(sink, eventOf(1, 'x/n', 1))
    await expect(sink.flush?.()).rejects.toMatchObject({ code: 'SESSION_WRITE_FAILED', message: 'session "a" has 7 events, expected 1' })
    expect(await linesOf(tables, 'a')).toBe(1)
  })
})

describe('a barrier', () => {
  it('waits while the database is away, and what was written is there once', async () => {
    const tables = await fresh()
    const database = tables.database()
    const sink = await begin(await tables.worker('one', { database }), 'a')
    let refusals = 3
    database.before = (text) => {
      if (text.includes('unnest') && refusals-- > 0) throw away()
    }
    put(sink, eventOf(1, 'x/n', 1))
    await sink.flush?.()
    expect(refusals).toBeLessThan(0)
    expect(await linesOf(tables, 'a')).toBe(2)
  })

  it('takes a statement whose answer was lost for what it was: done', async () => {
    const tables = await fresh()
    const database = tables.database()
    const sink = await begin(await tables.worker('one', { database }), 'a')
    let answers = 0
    database.after = (text) => {
      if (text.includes('unnest') && answers++ === 0) throw away()
    }
    put(sink, eventOf(1, 'x/n', 1), eventOf(2, 'x/n', 2))
    await sink.flush?.()
    put(sink, eventOf(3, 'x/n', 3))
    await sink.flush?.()
    expect(await linesOf(tables, 'a')).toBe(4)
  })

  it('with nothing to write waits, too, while the lease has run out, and goes on when no epoch has changed', async () => {
    const tables = await fresh()
    const database = tables.database()
    const worker = await tables.worker('one', { database, leaseMs: 500 })
    const sink = await begin(worker, 'a')
    database.before = () => {
      throw away()
    }
    await until(() => !worker.lease.isValid)
    let isPassed = false
    const flushed = sink.flush?.().then(() => (isPassed = true))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(isPassed).toBe(false)
    database.before = () => {}
    await flushed
    expect(worker.lease.isValid).toBe(true)
    // The others may be about to return.
    expect(worker.lease.mayJudge).toBe(false)
    await until(() => worker.lease.mayJudge)
  })

  it('of a session that was taken over meanwhile is SESSION_LOST', async () => {
    const tables = await fresh()
    const database = tables.database()
    const worker = await tables.worker('one', { database, leaseMs: 500 })
    const [lost, kept] = [await begin(worker, 'a'), await begin(worker, 'b')]
    database.before = () => {
      throw away()
    }
    await until(() => !worker.lease.isValid)
    await tables.query(`UPDATE $schema.session SET epoch = epoch + 1 WHERE id = 'a'`)
    const refused = lost.flush?.().catch((error: unknown) => error)
    const passed = kept.flush?.()
    database.before = () => {}
    expect(await refused).toMatchObject({ code: 'SESSION_LOST' })
    await passed
  })

  it('of a log that is given back does not wait for ever, and the log is left as a dead worker leaves it', async () => {
    const tables = await fresh()
    const database = tables.database()
    const worker = await tables.worker('one', { database, leaseMs: 500 })
    const sink = await begin(worker, 'a')
    database.before = () => {
      throw away()
    }
    put(sink, eventOf(1, 'x/n', 1))
    sink.close()
    await expect(sink.released).rejects.toMatchObject({
      code: 'SESSION_WRITE_FAILED',
      message: 'session "a" could not be written: postgres://embedded cannot be reached',
    })
    database.before = () => {}
    await until(async () => (await headOf(tables, 'a'))?.holder === 0)
  })
})

describe('a statement', () => {
  it('takes many sessions at once, and long lines in pieces', async () => {
    const tables = await fresh()
    const database = tables.database()
    const worker = await tables.worker('one', { database })
    const ids = Array.from({ length: 600 }, (_, index) => `s${index}`)
    let statements = 0
    database.before = (text) => void (text.includes('unnest') && statements++)
    const sinks = await Promise.all(ids.map(async (id) => begin(worker, id)))
    expect(statements).toBeLessThan(60)
    const [first] = sinks
    if (first === undefined) throw new Error('no sink')
    put(first, ...Array.from({ length: 5 }, (_, index) => eventOf(index + 1, 'x/long', 'y'.repeat(2_000_000))))
    statements = 0
    await first.flush?.()
    expect(statements).toBe(3)
    expect((await worker.read(SessionId('s0'))).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('that the database refuses for one session is no fault of the others', async () => {
    const tables = await fresh()
    const worker = await tables.worker()
    const [full, fine] = [await begin(worker, 'full'), await begin(worker, 'fine')]
    await tables.query(`CREATE FUNCTION $schema.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`)
    await tables.query(`CREATE TRIGGER full_disk BEFORE INSERT ON $schema.event FOR EACH ROW WHEN (NEW.session = 'full')
      EXECUTE FUNCTION $schema.refuse()`)
    put(full, eventOf(1, 'x/n', 1))
    put(fine, eventOf(1, 'x/n', 1))
    await fine.flush?.()
    const message =
      'session "full" could not be written: the disk of postgres://embedded is full: could not extend file: No space left on device'
    await expect(full.flush?.()).rejects.toMatchObject({ code: 'SESSION_WRITE_FAILED', message })
    await expect(full.flush?.()).rejects.toMatchObject({ message })
    expect([await linesOf(tables, 'full'), await linesOf(tables, 'fine')]).toEqual([1, 2])
    // Somebody is to repair it.
    await release(full).catch(() => {})
    expect(await headOf(tables, 'full')).toMatchObject({ holder: 0 })
    await release(fine)
    expect(await headOf(tables, 'fine')).toMatchObject({ holder: null })
  })

  it('says of a session whether a turn is open, and forgets takeovers with each that ends', async () => {
    const tables = await fresh()
    const sink = await begin(await tables.worker(), 'a')
    await tables.query('UPDATE $schema.session SET takeovers = 2')
    put(sink, eventOf(1, 'turn/start', { turn: 1 }))
    await sink.flush?.()
    expect(await headOf(tables, 'a')).toMatchObject({ busy: true, takeovers: 2 })
    put(sink, eventOf(2, 'x/n', 1))
    await sink.flush?.()
    expect(await headOf(tables, 'a')).toMatchObject({ busy: true })
    put(sink, eventOf(3, 'turn/end', { turn: 1, reason: { kind: 'interrupted' } }))
    await sink.flush?.()
    expect(await headOf(tables, 'a')).toMatchObject({ busy: false, takeovers: 2 })
    put(sink, eventOf(4, 'turn/start', { turn: 2 }), eventOf(5, 'turn/end', { turn: 2, reason: { kind: 'completed' } }))
    await sink.flush?.()
    expect(await headOf(tables, 'a')).toMatchObject({ busy: false, takeovers: 0 })
  })

  it('takes a title and ids of messages that no text column holds', async () => {
    const tables = await fresh()
    const worker = await tables.worker()
    const sink = await begin(worker, 'a')
    const odd = says('nul \0 and \ud83d alone', 'id \0 \ud83d')
    put(sink, eventOf(1, 'inbox/queued', { target: 'next-turn', message: odd }), eventOf(2, 'user/message', odd))
    put(sink, eventOf(3, 'user/message', says('not the first')))
    await sink.flush?.()
    expect(await worker.stored()).toEqual([{ id: 'a', updatedAt: expect.any(Number), title: 'nul \ufffd and \ufffd alone' }])
    expect((await worker.read(A))[2]?.data).toEqual(odd)
  })
})

describe('a damaged log', () => {
  it.each([
    ['a missing event', `DELETE FROM $schema.event WHERE seq = 1`, /^session "a", event 1: it is missing, and event 2 is there$/],
    ['a missing end', `DELETE FROM $schema.event WHERE seq = 2`, /^session "a", event 2: the log ends here, and its head says 3 events$/],
    [
      'a line that is no event',
      `UPDATE $schema.event SET line = '{}' WHERE seq = 1`,
      /^session "a", event 1: seq is undefined, expected 1$/,
    ],
  ])('%s is BAD_LOG, and nobody holds it then', async (_what, harm, message) => {
    const tables = await fresh()
    const worker = await tables.worker()
    const sink = await begin(worker, 'a')
    put(sink, eventOf(1, 'x/n', 1), eventOf(2, 'x/n', 2))
    await release(sink)
    await tables.query(harm)
    await expect(worker.load(A)).rejects.toMatchObject({ code: 'BAD_LOG', message: expect.stringMatching(message) as string })
    expect(await headOf(tables, 'a')).toMatchObject({ holder: null })
  })
})

describe('mail', () => {
  it('is gone with the statement that logs it', async () => {
    const tables = await fresh()
    const worker = await tables.worker()
    const message = says('hello', 'm1')
    await sendMail(worker.database, worker.sql, 'a', message)
    await sendMail(worker.database, worker.sql, 'a', says('more', 'm2'))
    const sink = worker.create(A)
    put(sink, startOf('a'), eventOf(1, 'inbox/queued', { target: 'next-turn', message }))
    await sink.flush?.()
    expect(await tables.query('SELECT message_id FROM $schema.mail')).toEqual([{ message_id: 'm2' }])
  })

  it('with an id that waits already is not queued again', async () => {
    const tables = await fresh()
    const { database, sql } = await tables.worker()
    await sendMail(database, sql, 'a', says('once', 'm1'))
    await sendMail(database, sql, 'a', says('twice', 'm1'))
    expect(await tables.query('SELECT FROM $schema.mail')).toHaveLength(1)
  })

  it.each([
    ['a bad agent', '../a', says('x'), 'BAD_SESSION_ID'],
    ['no message', 'a', { id: 'x', role: 'assistant' }, 'BAD_MESSAGE'],
    ['an id with NUL', 'a', says('x', 'a\0b'), 'BAD_MESSAGE'],
    ['an id that is too long', 'a', says('x', 'y'.repeat(1001)), 'BAD_MESSAGE'],
    ['what is no JSON', 'a', { ...says('x'), extra: 1n }, 'NOT_JSON'],
  ])('for %s is refused', async (_what, agent, message, code) => {
    const tables = await fresh()
    const { database, sql } = await tables.worker()
    await expect(sendMail(database, sql, agent, message as never)).rejects.toMatchObject({ code })
    expect(await tables.query('SELECT FROM $schema.mail')).toHaveLength(0)
  })
})

describe('the schema', () => {
  it('is made once, under any name', async () => {
    const { database } = await fresh()
    const name = `we"ird'; DROP SCHEMA public; --`
    expect([await migrate(database(), name), await migrate(database(), name)]).toEqual([true, false])
    await expect(checkSchema(database(), name)).resolves.toBeUndefined()
  })

  it('that is missing or older is refused with the command to run, a newer one with the package to upgrade', async () => {
    const { database, query, schema } = await fresh()
    const refusal = async (name: string): Promise<unknown> => checkSchema(database(), name).catch((error: unknown) => error)
    const code = 'DATABASE_SCHEMA'
    expect(await refusal('none')).toMatchObject({
      code,
      message: 'session-postgres: the schema "none" of postgres://embedded has no tables of sessions: run `loopguard migrate`',
    })
    await query('UPDATE $schema.version SET version = 0')
    expect(await refusal(schema)).toMatchObject({
      code,
      message: expect.stringMatching(/ is of version 0, .*: run `loopguard migrate`$/) as string,
    })
    await query('UPDATE $schema.version SET version = 2')
    const newer = { code, message: expect.stringMatching(/ is of version 2, .*: upgrade @loopguard\/session-postgres$/) as string }
    expect(await refusal(schema)).toMatchObject(newer)
    await expect(migrate(database(), schema)).rejects.toMatchObject(newer)
  })

  it.each(['', '  ', 'a\0b', 'x'.repeat(64), '\ud83d'])('cannot be called %j', async (name) => {
    const { database } = await fresh()
    await expect(migrate(database(), name)).rejects.toMatchObject({ code: 'BAD_DATABASE' })
  })
})

it('a process that leaves gives up what is still open, and that is no takeover', async () => {
  const tables = await fresh()
  const worker = await tables.worker('one', { leaseMs: 500 })
  const sink = await begin(worker, 'a')
  put(sink, eventOf(1, 'turn/start', { turn: 1 }))
  await sink.flush?.()
  await worker.stop()
  expect(sink.lost?.aborted).toBe(true)
  expect(await headOf(tables, 'a')).toMatchObject({ holder: 0, takeovers: -1, busy: true })
  expect(await tables.query('SELECT FROM $schema.worker')).toEqual([])
})
