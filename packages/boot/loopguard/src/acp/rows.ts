import { isGroup } from '../load/row-keys.ts'
import type { Row } from '../load/rows.ts'
import { LogFault } from '../logs/fault.ts'

const ACP = '@loopguard/acp'
const LOOP = '@loopguard/agent-loop'
const OPTIONS = ['provider', 'model', 'system', 'maxTokens']

/**
 * The rows of a composition that a client drives. One without a row for the client gets it, with the first agent of the agent loop as
 * the pattern of a session's agent; the agents of that row are not made then.
 * @throws LogFault when there is neither.
 */
export function acpRows(rows: readonly Row[], file: string): Row[] {
  const all = [...flat(rows)]
  if (all.some(({ name, disabled }) => name === ACP && disabled !== true)) return [...rows]
  const loop = all.find(({ name, disabled }) => name === LOOP && disabled !== true)
  const { agents, ...rest } = Object(loop?.config) as { readonly agents?: unknown }
  const pattern: unknown = Array.isArray(agents) ? agents[0] : undefined
  if (loop === undefined || typeof pattern !== 'object' || pattern === null) {
    throw new LogFault(
      `${file} does not say what agent a session is to have: add a row ${ACP} with provider and model, or an agent to the row ${LOOP}`,
    )
  }
  // In place: where a row stands in its file is known of this very object.
  loop.config = rest
  const config = Object.fromEntries(Object.entries(pattern).filter(([key]) => OPTIONS.includes(key)))
  return [...rows, { id: freeId(all.map(({ id }) => id)), name: ACP, config }]
}

function* flat(rows: readonly Row[]): Generator<Row> {
  for (const row of rows) {
    yield row
    if (isGroup(row) && Array.isArray(row.config)) yield* flat(row.config as Row[])
  }
}

function freeId(taken: readonly string[]): string {
  for (let count = 1; ; count++) {
    const id = count === 1 ? 'acp' : `acp-${count}`
    if (!taken.includes(id)) return id
  }
}
