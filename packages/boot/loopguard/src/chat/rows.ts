import { isGroup } from '../load/row-keys.ts'
import type { Row } from '../load/rows.ts'
import { LogFault } from '../logs/fault.ts'
import { ADVICE } from './chosen-agent.ts'

const HOST = ['llm', 'session', 'tools', 'timeout-policy', 'repeat-tool-reminder'].map((name) => `@loopguard/${name}`)
const LOOP = '@loopguard/agent-loop'
const SCRIPTED = '@loopguard/testkit/scripted-model'
const MODEL = '@loopguard/ai-sdk-model'
const ACP = '@loopguard/acp'

/** What is asked of a provider when nobody says. */
const MODELS: Readonly<Record<string, string>> = {
  deepseek: 'deepseek-chat',
  openai: 'gpt-5-mini',
  'openai-chat': 'gpt-5-mini',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
}

/**
 * The rows of a conversation: those of the composition, and, where it has no agent loop, what a guarded agent on its model needs. A row
 * for editors is left out: one front end at a time.
 * @throws LogFault when there is no model, or it cannot be told which one to ask.
 */
export function chatRows(rows: readonly Row[], model: string | undefined): Row[] {
  const own = rows.filter(({ name }) => name !== ACP)
  const all = [...flat(own)].filter(({ disabled }) => disabled !== true)
  // A row that reads rows from a file may bring anything.
  if (all.some(({ name }) => name === LOOP || /include/.test(name))) {
    if (model !== undefined)
      throw new LogFault('--model is for a composition without a row @loopguard/agent-loop; in this one, each agent names its model')
    return own
  }
  const missing = HOST.filter((name) => !all.some((row) => row.name === name))
  const agent = { id: 'chat', ...modelOf(all, model) }
  const made = (name: string): Row => ({ id: freeId(name.slice(name.indexOf('/') + 1), own), name })
  return [...missing.map(made), ...own, { ...made(LOOP), config: { agents: [agent] } }]
}

function modelOf(rows: readonly Row[], model: string | undefined): { readonly provider: string; readonly model: string } {
  const row = rows.find(({ name }) => name === MODEL || name === SCRIPTED)
  if (row === undefined) throw new LogFault(`no row of the composition is a model. ${ADVICE}`)
  const { provider, kind } = Object(row.config) as { readonly provider?: unknown; readonly kind?: unknown }
  const served = typeof provider === 'string' ? provider : 'scripted'
  const known = model ?? (row.name === SCRIPTED ? 'scripted' : MODELS[String(kind)])
  if (known === undefined) throw new LogFault(`which model of "${served}" is to be asked? --model says it`)
  return { provider: served, model: known }
}

function* flat(rows: readonly Row[]): Generator<Row> {
  for (const row of rows) {
    yield row
    if (isGroup(row) && Array.isArray(row.config)) yield* flat(row.config as Row[])
  }
}

function freeId(wanted: string, rows: readonly Row[]): string {
  const taken = new Set([...flat(rows)].map(({ id }) => id))
  return taken.has(wanted) ? `${wanted}-of-chat` : wanted
}
