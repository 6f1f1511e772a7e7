import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../src/main.ts'
import { takeAgents } from '../src/work/rows.ts'
import { readRows } from '../src/load/rows.ts'
import { type Ended, folder, HOST } from './cli.ts'

const written = { out: '', err: '' }

beforeEach(() => {
  Object.assign(written, { out: '', err: '' })
  vi.spyOn(process.stdout, 'write').mockImplementation((words) => ((written.out += String(words)), true))
  vi.spyOn(process.stderr, 'write').mockImplementation((words) => ((written.err += String(words)), true))
})
afterEach(() => {
  vi.restoreAllMocks()
})

async function here(...args: string[]): Promise<Ended> {
  const code = await main(args)
  return { code, ...written }
}

const STORE = `- { name: '@loopguard/session-postgres', config: { urlEnv: LG_NO_SUCH_VARIABLE } }\n`
const LOOP = `- { id: loop, name: '@loopguard/agent-loop', config: { maxParallelToolCalls: 2, agents: [{ id: a, provider: p, model: m, prompt: go }] } }\n`

function composition(rows: string): string {
  return join(folder({ 'cordis.yml': rows }), 'cordis.yml')
}

describe('work, send and migrate', () => {
  it.each([
    [['work', '<>'], HOST, / describes no agent: give the row @loopguard\/agent-loop one under `agents`\n$/],
    [['migrate', '<>'], HOST, / has no row @loopguard\/session-postgres: its agents live in this process alone\n$/],
    [['send', 'a', 'hello', '--composition', '<>'], HOST, / has no row @loopguard\/session-postgres: /],
    [['migrate', '<>'], STORE, /^loopguard: session-postgres: the environment variable LG_NO_SUCH_VARIABLE \(`urlEnv`\) is empty\n$/],
    [['send', 'a', 'hello', '--composition', '<>'], STORE, /the environment variable LG_NO_SUCH_VARIABLE/],
    [
      ['work', '<>'],
      `- { id: loop, name: '@loopguard/agent-loop', config: { agents: [{ id: a, provider: p, model: m, onTakeover: maybe }] } }\n`,
      / loop \(@loopguard\/agent-loop\): .*onTakeover/s,
    ],
  ])('%j with another composition says what is missing', async (args, rows, message) => {
    const file = composition(rows)
    const { code, out, err } = await here(...args.map((word) => (word === '<>' ? file : word)))
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(message)
  })

  it.each([['0'], ['-1'], ['1.5'], ['x']])('--max %s is a usage error', async (max) => {
    const { code, err } = await here('work', '--max', max)
    expect(code).toBe(2)
    expect(err).toMatch(/--max <agents>.* is invalid/)
  })
})

it('the agents are taken out of the rows, in groups too, and nothing else is', async () => {
  const file = composition(`- id: all\n  name: cordis:group\n  config:\n  ${LOOP}`)
  const rows = await readRows(file)
  expect(await takeAgents(file, rows)).toEqual([{ id: 'a', provider: 'p', model: 'm', prompt: 'go' }])
  expect(rows).toMatchObject([{ config: [{ id: 'loop', config: { maxParallelToolCalls: 2 } }] }])
  expect(JSON.stringify(rows)).not.toContain('agents')
})
