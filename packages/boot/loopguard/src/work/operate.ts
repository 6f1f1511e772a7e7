import { HarnessError } from '@loopguard/kit'
import { importFrom } from '../load/import-from.ts'
import { LogFault } from '../logs/fault.ts'
import { spoken } from '../run/spoken.ts'
import { STORE, storeConfig } from './rows.ts'

/** What the command uses of the store, which it finds by name as a composition does. */
interface StorePackage {
  migrate(config: unknown): Promise<string>
  send(config: unknown, agent: string, message: object, options: { readonly unpark: boolean }): Promise<string | undefined>
}

/** @returns what there is now, as a line. @throws LogFault for what an operator can mend. */
export async function migrate(file: string): Promise<string> {
  return `${await operate(file, async (store, config) => store.migrate(config))}\n`
}

/** @returns what became of it, as a line. @throws LogFault for what an operator can mend. */
export async function sendText(
  file: string,
  agent: string,
  words: string,
  { id, unpark }: { readonly id?: string | undefined; readonly unpark: boolean },
): Promise<string> {
  const message = spoken(words, id)
  const parked = await operate(file, async (store, config) => store.send(config, agent, message, { unpark }))
  return parked === undefined
    ? `queued ${message.id}\n`
    : `queued ${message.id}, but the agent is parked: ${parked} (--unpark lets it go on)\n`
}

async function operate<T>(file: string, work: (store: StorePackage, config: unknown) => Promise<T>): Promise<T> {
  const config = await storeConfig(file)
  try {
    return await work((await importFrom(file, STORE)) as StorePackage, config)
  } catch (error) {
    if (error instanceof HarnessError) throw new LogFault(error.message)
    throw error
  }
}
