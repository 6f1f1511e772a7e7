import { HarnessError } from '@loopguard/kit'
import type { UserMessage } from '@loopguard/llm'
import { Config } from './config.ts'
import type { Database } from './database.ts'
import { sendMail } from './mailbox.ts'
import { checkSchema, migrate as migrateSchema } from './schema.ts'
import { statementsOf } from './statements.ts'
import { openDatabase } from './store.ts'

/** What an operator does to a database without being one of its workers. Each takes the configuration of the row. */

/**
 * Makes the tables, or brings them up to date. Again changes nothing.
 * @returns what there is now, in a sentence.
 * @throws HarnessError `BAD_DATABASE`, `DATABASE_SCHEMA`, `DATABASE_REFUSED`, `DATABASE_UNREACHABLE`.
 */
export async function migrate(config: Partial<Config>): Promise<string> {
  return withDatabase(config, async (database, { schema }) => {
    const isNew = await migrateSchema(database, schema)
    return `the schema ${JSON.stringify(schema)} of ${database.shown} ${isNew ? 'is ready' : 'was ready already'}`
  })
}

export interface SendOptions {
  /** Lets an agent go on that is parked. */
  readonly unpark?: boolean
}

/**
 * Queues a message for an agent.
 * @returns why no worker takes the agent, when it is parked.
 * @throws HarnessError `BAD_SESSION_ID`, `BAD_MESSAGE`, and as {@link migrate}.
 */
export async function send(
  config: Partial<Config>,
  agent: string,
  message: UserMessage,
  { unpark = false }: SendOptions = {},
): Promise<string | undefined> {
  return withDatabase(config, async (database, { schema }) => {
    await checkSchema(database, schema)
    const sql = statementsOf(schema)
    if (unpark) await database.query(sql.unpark, [agent])
    return sendMail(database, sql, agent, message)
  })
}

async function withDatabase<T>(given: Partial<Config>, work: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const outcome = await Config['~standard'].validate(given)
  if (outcome.issues !== undefined) throw new HarnessError(outcome.issues.map(({ message }) => message).join('\n'), 'BAD_DATABASE')
  const config = outcome.value as Config
  const database = openDatabase(config)
  try {
    return await work(database, config)
  } finally {
    await database.end()
  }
}
