import { expect, it } from 'vitest'
import { filesBelow, read } from './support/docs.ts'

const OWNERS: Readonly<Record<string, string>> = {
  timeout: 'packages/util/timeout',
  kit: 'packages/util/kit',
  llm: 'packages/core/llm',
  session: 'packages/core/session',
  tools: 'packages/core/tools',
  'agent-loop': 'packages/core/agent-loop',
  'timeout-policy': 'packages/guard/timeout-policy',
  repeat: 'packages/util/repeat',
  advisory: 'packages/util/advisory',
  'repeat-tool-reminder': 'packages/guard/repeat-tool-reminder',
  budget: 'packages/cap/budget',
  'repeated-failure-reminder': 'packages/guard/repeated-failure-reminder',
  invariants: 'packages/runtime-diagnostics/invariants',
  jobs: 'packages/work/jobs',
  shell: 'packages/work/shell',
  testkit: 'packages/test-support/testkit',
  loopguard: 'packages/boot/loopguard',
  todo: 'packages/work/todo',
  web: 'packages/work/web',
  'request-retry': 'packages/model/request-retry',
  subagent: 'packages/delegation/subagent',
  workflow: 'packages/delegation/workflow',
  goal: 'packages/delegation/goal',
  ralph: 'packages/delegation/ralph',
  'ai-sdk-model': 'packages/model/ai-sdk-model',
  'session-postgres': 'packages/store/session-postgres',
}

/** Constants that look like a code of ours: codes of Node, of its HTTP client and of the YAML parser, and variables of the environment. */
const NO_CODES = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'NO_COLOR',
  'FORCE_COLOR',
  'NODE_OPTIONS',
  'BASH_ENV',
  'BAD_SCALAR_START',
  'MULTIPLE_DOCS',
  'TAB_AS_INDENT',
  'UNEXPECTED_TOKEN',
  'MAX_TOKENS',
  'ERR_WORKER_OUT_OF_MEMORY',
  'UND_ERR_CONNECT_TIMEOUT',
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'DEEPSEEK_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
])
const ONE_WORD = ['ABORTED', 'AUTH', 'BLOCKED', 'CANCELLED', 'DENIED', 'INVARIANT', 'SERVER', 'TIMEOUT', 'TRANSPORT']

async function codesOf(folder: string): Promise<Set<string>> {
  const sources = await Promise.all((await filesBelow(`${folder}/src/`, '.ts')).map(read))
  const code = new RegExp(`'([A-Z]+(?:_[A-Z]+)+|${ONE_WORD.join('|')})'`, 'g')
  return new Set(
    sources.flatMap((source) => [...source.matchAll(code)].map(([, found]) => found as string)).filter((found) => !NO_CODES.has(found)),
  )
}

const rows = [...(await read('docs/error-codes.md')).matchAll(/^\| `(\w+)` \| ([\w-]+) \|/gm)].map(([, code, owner]) => ({
  code: code as string,
  owner: owner as string,
}))

it('every code has one row', () => {
  expect(rows.map(({ code }) => code).toSorted()).toEqual([...new Set(rows.map(({ code }) => code))].toSorted())
})

it('every code of the sources has a row, and every row a code in the sources of its owner', async () => {
  const given = new Map(await Promise.all(Object.entries(OWNERS).map(async ([owner, folder]) => [owner, await codesOf(folder)] as const)))
  const listed = new Set(rows.map(({ code }) => code))
  for (const [owner, codes] of given) for (const code of codes) expect(listed.has(code), `${code}, used in ${owner}`).toBe(true)
  for (const { code, owner } of rows) expect(given.get(owner)?.has(code), `${code}, owned by ${owner}`).toBe(true)
})
