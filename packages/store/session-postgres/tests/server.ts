import { Context } from '@deepseek-ai/cordis'
import { migrate, PostgresSessions, type Config } from '@loopguard/session-postgres'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../../scripts/postgres.mjs'
import { addressOf } from '../src/address.ts'
import { type BackendOptions, PostgresBackend } from '../src/backend.ts'
import { PgDatabase } from '../src/pg-database.ts'

export interface Served {
  readonly server: PostgresServer
  readonly schema: string
  readonly database: PgDatabase
  /** A process, started. It leaves with the test. */
  readonly worker: (name: string, options?: Partial<BackendOptions>) => Promise<PostgresBackend>
  /** The service, in a context of its own, which goes with the test. */
  readonly service: (config?: Partial<Config>) => Promise<Context>
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>
}

let server: PostgresServer | undefined
let count = 0

/** One server for a test file. Nothing of it has to survive the machine. */
export function served(): () => Promise<Served> {
  beforeAll(async () => {
    server = await startPostgres({ settings: ['fsync=off'] })
    // For as long as a lease after the server has come up, no worker counts as dead.
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }, 240_000)
  afterAll(async () => server?.stop())
  return async () => {
    const here = server as PostgresServer
    const schema = `test_${++count}`
    await migrate({ url: here.url, schema })
    const open = (): PgDatabase => new PgDatabase(addressOf({ url: here.url }), 4, 5000)
    const database = open()
    onTestFinished(async () => database.end())
    return {
      server: here,
      schema,
      database,
      worker: async (worker, options = {}) => {
        const own = open()
        const backend = new PostgresBackend(own, { worker, leaseMs: 1000, lanes: 2, schema, ...options })
        await backend.start()
        onTestFinished(async () => {
          await backend.lease.stop()
          await own.end()
        })
        return backend
      },
      service: async (config = {}) => {
        const ctx = new Context()
        onTestFinished(async () => ctx.fiber.dispose())
        await ctx.plugin(PostgresSessions, { url: here.url, schema, ...config } as never)
        return ctx
      },
      query: async (text, values) => database.query(text.replaceAll('$schema', schema), values),
    }
  }
}
