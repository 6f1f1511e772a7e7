import { HarnessError } from '@loopguard/kit'
import type { Database, Link } from './database.ts'

/** A pooler that has no connection left lets a client wait, and may do so for ever. */
const ANSWER_MS = 10_000

/** The process of the server that serves this connection. */
export async function pidOf(link: Pick<Link, 'query'>): Promise<number> {
  const [row] = await link.query<{ pid: number }>('SELECT pg_backend_pid() AS pid', [], { timeoutMs: ANSWER_MS })
  return row?.pid ?? 0
}

/**
 * Behind a pooler that gives a connection to another client after each transaction, locks and LISTEN belong to nobody. Two clients that
 * are connected at once have two server processes, unless there is one between.
 * @throws HarnessError `DATABASE_POOLED`
 */
export async function refusePooler(database: Database): Promise<void> {
  const links = await Promise.all([database.connect(), database.connect()])
  try {
    const [one, two] = links
    const first = await pidOf(one)
    await two.query('BEGIN')
    // In this order: a pooler with one connection alone would keep the first client waiting.
    if (first === (await pidOf(two)) || first !== (await pidOf(one))) throw pooled(database.shown)
  } finally {
    await Promise.all(links.map(async (link) => link.end()))
  }
}

export function pooled(shown: string): HarnessError {
  const why = 'one that pools by transaction stands between, so that locks and notifications are lost'
  const what = 'give the address of the server itself, or let the pooler pool by session'
  return new HarnessError(`session-postgres: ${shown} is not the server: ${why}; ${what}`, 'DATABASE_POOLED')
}
