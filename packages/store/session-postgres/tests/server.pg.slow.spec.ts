import { inspect } from 'node:util'
import { Context } from '@deepseek-ai/cordis'
import { createUserMessage, SessionId, text } from '@loopguard/llm'
import { type Config, migrate, PostgresSessions, send } from '@loopguard/session-postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PASSWORD } from '../../../../scripts/postgres.mjs'
import { sendMail } from '../src/mailbox.ts'
import { say } from './samples/say.ts'
import { fakePooler } from './pooler.ts'
import { served } from './server.ts'
import { begin, eventOf, put, release, says, until } from './support.ts'

const fresh = served()
const A = SessionId('a')

async function refusalOf(config: Partial<Config>): Promise<Error & { readonly code?: string }> {
  const ctx = new Context()
  onTestFinished(async () => ctx.fiber.dispose())
  return ctx.plugin(PostgresSessions, config as never).then(
    () => new Error('it started'),
    (error: unknown) => error as Error,
  )
}

describe('the service', () => {
  it('keeps sessions that another process reads and goes on with', async () => {
    const tables = await fresh()
    const one = await tables.service()
    const session = one.sessions.create('a')
    session.append('user/message', createUserMessage({ content: [text('hello')], source: { kind: 'user' } }))
    await session.flush()
    expect(session.epoch).toBe(1)
    const two = await tables.service({ worker: 'two' })
    expect(await two.sessions.read('a')).toEqual(session.events)
    await expect(two.sessions.load('a')).rejects.toMatchObject({ code: 'SESSION_OPEN' })
    session.close()
    await session.released
    const again = await two.sessions.load('a')
    expect([again.events, again.epoch]).toEqual([session.events, 2])
    expect(await one.sessions.stored()).toEqual([{ id: 'a', title: 'hello', updatedAt: expect.any(Number) }])
  })

  it('is gone with its context: no connection and no worker is left', async () => {
    const tables = await fresh()
    const ctx = await tables.service({ worker: 'brief' })
    ctx.sessions.create('a')
    expect(await tables.query('SELECT name FROM $schema.worker')).toEqual([{ name: 'brief' }])
    await ctx.fiber.dispose()
    expect(await tables.query('SELECT FROM $schema.worker')).toEqual([])
    await until(
      async () =>
        (await tables.query(`SELECT FROM pg_stat_activity WHERE application_name = 'loopguard' AND pid <> pg_backend_pid()`)).length <= 1,
    )
  })
})

describe('what cannot work is refused in one sentence, and no password is told:', () => {
  it('a wrong password', async () => {
    const { server } = await fresh()
    process.env['LG_URL'] = server.tcp.replace(PASSWORD, 'wr0ng-secret')
    const refusal = await refusalOf({ urlEnv: 'LG_URL' })
    const shown = `postgres://loopguard@127.0.0.1:${server.port}/postgres`
    expect(refusal).toMatchObject({
      code: 'DATABASE_REFUSED',
      message: `session-postgres: ${shown} refuses: password authentication failed for user "loopguard"`,
    })
    expect(inspect(refusal, { depth: 10, showHidden: true })).not.toContain('wr0ng-secret')
  })

  it('no password where one is wanted', async () => {
    const { server } = await fresh()
    const refusal = await refusalOf({ url: server.tcp.replace(`:${PASSWORD}`, '') })
    expect(refusal).toMatchObject({
      code: 'DATABASE_REFUSED',
      message: expect.stringMatching(/ wants a password: put the URL into/) as string,
    })
  })

  it('a database that is not there, and a server that is not there', async () => {
    const { server } = await fresh()
    expect(await refusalOf({ url: server.url.replace('/postgres?', '/nowhere?') })).toMatchObject({
      code: 'DATABASE_REFUSED',
      message: expect.stringMatching(/ refuses: database "nowhere" does not exist$/) as string,
    })
    expect(await refusalOf({ url: 'postgres://me@127.0.0.1:1/x' })).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringMatching(/^session-postgres: postgres:\/\/me@127\.0\.0\.1:1\/x cannot be reached: .*ECONNREFUSED/) as string,
    })
  })

  it('a schema without tables', async () => {
    const { server } = await fresh()
    const refusal = await refusalOf({ url: server.url, schema: 'empty' })
    expect(refusal).toMatchObject({ code: 'DATABASE_SCHEMA', message: expect.stringMatching(/: run `loopguard migrate`$/) as string })
  })

  it('a pooler that pools by transaction', async () => {
    const { server, schema } = await fresh()
    const pooler = await fakePooler(server.folder, server.port)
    onTestFinished(async () => pooler.close())
    const url = `postgres://loopguard@127.0.0.1:${pooler.port}/postgres`
    expect(await refusalOf({ url, schema })).toMatchObject({
      code: 'DATABASE_POOLED',
      message: expect.stringMatching(/ is not the server: one that pools by transaction stands between/) as string,
    })
  })
})

it('several that migrate at once make the tables once', async () => {
  const { server } = await fresh()
  const said = await Promise.all(Array.from({ length: 4 }, async () => migrate({ url: server.url, schema: 'at once' })))
  expect(said.filter((line) => line.endsWith(' is ready'))).toHaveLength(1)
  expect(said.filter((line) => line.endsWith(' was ready already'))).toHaveLength(3)
})

it('the sample queues a message', async () => {
  const { server, query } = await fresh()
  await migrate({ url: server.url })
  await say(server.url, 'a', 'hello')
  expect(await query('SELECT session FROM loopguard.mail')).toEqual([{ session: 'a' }])
})

describe('a worker', () => {
  it('hears of mail that another process sends', async () => {
    const tables = await fresh()
    const worker = await tables.worker('one')
    const heard: string[] = []
    worker.onMail((session) => heard.push(session))
    await send({ url: tables.server.url, schema: tables.schema }, 'ä b', says('hello'))
    await until(() => heard.length > 0)
    expect(heard).toEqual(['ä b'])
  })

  it('that dies is seen by its lock, long before its lease is over', async () => {
    const tables = await fresh()
    const dying = await tables.worker('dying', { leaseMs: 600_000 })
    const next = await tables.worker('next')
    await begin(dying, 'a')
    await expect(next.load(A)).rejects.toMatchObject({ code: 'SESSION_OPEN' })
    // All that the operating system does for a killed process: its connections end. It does not come back to renew anything.
    await dying.lease.stop()
    await tables.query(`INSERT INTO $schema.worker VALUES ($1, 'dying', now() + interval '10 min')`, [dying.lease.n])
    const { log } = await next.load(A)
    expect(log.epoch).toBe(2)
    await release(log)
  })

  it('whose connection ends is back at once, and goes on', async () => {
    const tables = await fresh()
    const worker = await tables.worker('one')
    const sink = await begin(worker, 'a')
    await tables.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    put(sink, eventOf(1, 'x/n', 1))
    await sink.flush?.()
    const heard: string[] = []
    worker.onMail((session) => heard.push(session))
    await until(async () => {
      await sendMail(worker.database, worker.sql, 'b', says('hello'))
      return heard.length > 0
    })
    await until(
      async () =>
        (await tables.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND objsubid = 2`, [worker.lease.n]))
          .length === 1,
    )
    put(sink, eventOf(2, 'x/n', 2))
    await release(sink)
    expect(await worker.read(A)).toHaveLength(3)
  })
})

it('an outage longer than the lease: barriers wait, nothing is lost, and nobody takes what its holder comes back for', async () => {
  const tables = await fresh()
  const workers = [await tables.worker('one'), await tables.worker('two')] as const
  const sinks = [await begin(workers[0], 'a'), await begin(workers[1], 'b')] as const
  await tables.server.halt()
  let passed = 0
  const flushed = sinks.map(async (sink) => {
    put(sink, eventOf(1, 'x/n', 1))
    await sink.flush?.()
    passed++
  })
  await until(() => workers.every(({ lease }) => !lease.isValid))
  expect(passed).toBe(0)
  await tables.server.start()
  await Promise.all(flushed)
  for (const [at, sink] of sinks.entries()) {
    const other = workers[1 - at] as (typeof workers)[0]
    expect(await other.database.query(other.sql.claimOrphans, [other.lease.n, other.leaseMs, 10, 3])).toEqual([])
    put(sink, eventOf(2, 'x/n', 2))
    await release(sink)
    expect(sink.lost?.aborted).toBe(false)
  }
  expect([await workers[0].read(A), await workers[1].read(SessionId('b'))].map((events) => events.length)).toEqual([3, 3])
})
