import { importFrom } from '../load/import-from.ts'
import { CompositionError } from '../load/faults.ts'
import { isGroup } from '../load/row-keys.ts'
import { readRows, type Row } from '../load/rows.ts'
import { LogFault } from '../logs/fault.ts'

export const STORE = '@loopguard/session-postgres'
const LOOP = '@loopguard/agent-loop'

/** An agent as its row describes it; what else the row holds is what the agent is made with. */
export interface AgentRow {
  readonly id: string
  readonly prompt?: string
  readonly [key: string]: unknown
}

/** The configuration of the store in a composition. @throws LogFault when there is none. */
export async function storeConfig(file: string): Promise<unknown> {
  const row = flat(await readRows(file)).find(({ name }) => name === STORE)
  if (row === undefined) throw new LogFault(`${file} has no row ${STORE}: its agents live in this process alone`)
  return row.config ?? {}
}

/**
 * Takes the agents out of a composition, so that loading it starts none.
 * @throws CompositionError for agents that the loop refuses, LogFault when there are none.
 */
export async function takeAgents(file: string, rows: readonly Row[]): Promise<readonly [AgentRow, ...AgentRow[]]> {
  const row = flat(rows).find(({ name }) => name === LOOP)
  const { Config } = (await importFrom(file, LOOP)) as { readonly Config: Validatable }
  const { issues, value } = await Config['~standard'].validate(row?.config)
  if (row !== undefined && issues !== undefined) {
    const cause = issues.map(({ message }) => message).join('\n')
    throw new CompositionError(file, [{ row: row.id, package: LOOP, cause }])
  }
  const [first, ...rest] = value?.agents ?? []
  if (row === undefined || first === undefined) throw new LogFault(`${file} describes no agent: give the row ${LOOP} one under \`agents\``)
  const { agents: _taken, ...config } = Object(row.config) as Readonly<Record<string, unknown>>
  row.config = config
  return [first, ...rest]
}

interface Validatable {
  readonly '~standard': {
    validate(
      config: unknown,
    ): Awaitable<{ readonly issues?: readonly { readonly message: string }[]; readonly value?: { readonly agents: AgentRow[] } }>
  }
}
type Awaitable<T> = T | Promise<T>

/** All rows, those of groups too. */
function flat(rows: readonly Row[]): Row[] {
  return rows.flatMap((row) => (isGroup(row) ? flat(row.config as Row[]) : [row]))
}
