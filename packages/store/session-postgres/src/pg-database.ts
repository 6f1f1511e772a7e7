import pg from 'pg'
import type { Address } from './address.ts'
import type { Database, Link, QueryOptions } from './database.ts'
import { databaseFault } from './faults.ts'

/** A server, through a pool of `connections`, and one connection more for each {@link Database.connect}. Nothing connects yet. */
export class PgDatabase implements Database {
  readonly shown: string
  private readonly config: pg.ClientConfig
  private readonly pool: pg.Pool

  /** @param connectMs - how long a connection may take, in milliseconds. */
  constructor({ connectionString, shown }: Address, connections: number, connectMs: number) {
    this.shown = shown
    this.config = { connectionString, keepAlive: true, connectionTimeoutMillis: connectMs, application_name: 'loopguard' }
    this.pool = new pg.Pool({ ...this.config, max: connections })
    // One that breaks while nobody uses it is replaced with the next query.
    this.pool.on('error', () => {})
  }

  async query<Row>(text: string, values: readonly unknown[] = [], options: QueryOptions = {}): Promise<Row[]> {
    return ask(this.pool, this.shown, text, values, options)
  }

  async connect(): Promise<Link> {
    const client = new pg.Client(this.config)
    const gone = new AbortController()
    client.on('error', () => gone.abort())
    client.on('end', () => gone.abort())
    try {
      await client.connect()
    } catch (error) {
      throw databaseFault(error, this.shown)
    }
    return {
      gone: gone.signal,
      query: async (text, values = [], options = {}) => ask(client, this.shown, text, values, options),
      listen: async (channel, heard) => {
        client.on('notification', ({ channel: name, payload }) => {
          if (name === channel) heard(payload ?? '')
        })
        await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
      },
      end: () => client.end().catch(() => {}),
    }
  }

  end(): Promise<void> {
    return this.pool.end()
  }
}

async function ask<Row>(
  client: pg.Pool | pg.Client,
  shown: string,
  text: string,
  values: readonly unknown[],
  { name, timeoutMs }: QueryOptions,
): Promise<Row[]> {
  try {
    const asked = {
      text,
      values: [...values],
      ...(name !== undefined && { name }),
      ...(timeoutMs !== undefined && { query_timeout: timeoutMs }),
    }
    return (await client.query(asked)).rows as Row[]
  } catch (error) {
    throw databaseFault(error, shown)
  }
}
