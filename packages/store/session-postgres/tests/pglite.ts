import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll } from 'vitest'
import { PostgresBackend } from '../src/backend.ts'
import type { Database, Link } from '../src/database.ts'
import { migrate } from '../src/schema.ts'

/** Postgres inside this process: everything but a second connection. */
class EmbeddedDatabase implements Database {
  readonly shown = 'postgres://embedded'
  readonly engine: PGlite
  /** Called before each query. A throw of it is what the query rejects with. */
  before: (text: string) => unknown = () => {}
  /** Called after each query has taken effect. */
  after: (text: string) => unknown = () => {}

  constructor(engine: PGlite) {
    this.engine = engine
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    await this.before(text)
    const { rows } = await this.engine.query<Row>(text, [...values])
    await this.after(text)
    return rows
  }

  connect(): Promise<Link> {
    const stop: (() => Promise<void>)[] = []
    return Promise.resolve({
      query: async (text, values) => this.query(text, values),
      gone: new AbortController().signal,
      listen: async (channel, heard) => {
        stop.push(await this.engine.listen(channel, heard))
      },
      end: async () => {
        for (const unlisten of stop) await unlisten()
      },
    })
  }

  async end(): Promise<void> {}
}

export interface Embedded {
  readonly schema: string
  /** A database on the engine of this file: its faults are its own. */
  readonly database: () => EmbeddedDatabase
  /** A process, started, on the tables of this test. Stopped with the test file. */
  readonly worker: (
    name?: string,
    options?: { readonly leaseMs?: number; readonly database?: EmbeddedDatabase },
  ) => Promise<PostgresBackend>
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>
}

let engine: PGlite | undefined
let count = 0
const started: PostgresBackend[] = []

/** One engine for a test file; it takes seconds to load. */
export function embedded(): () => Promise<Embedded> {
  beforeAll(async () => {
    engine = await PGlite.create()
    // For as long as a lease after the server has come up, no worker counts as dead.
    await engine.query('SELECT pg_sleep(0.6)')
  }, 240_000)
  afterAll(async () => {
    for (const { lease } of started.splice(0)) await lease.stop()
    await engine?.close()
  })
  return async () => {
    const schema = `test ${++count}`
    const make = (): EmbeddedDatabase => new EmbeddedDatabase(engine as PGlite)
    await migrate(make(), schema)
    return {
      schema,
      database: make,
      worker: async (name = 'one', { leaseMs = 60_000, database = make() } = {}) => {
        const backend = new PostgresBackend(database, { worker: name, leaseMs, lanes: 2, schema })
        await backend.start()
        started.push(backend)
        return backend
      },
      query: async (text, values) => make().query(text.replaceAll('$schema', `"${schema}"`), values),
    }
  }
}
