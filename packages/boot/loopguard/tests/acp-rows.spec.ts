import { describe, expect, it } from 'vitest'
import { acpRows } from '../src/acp/rows.ts'
import type { Row } from '../src/load/rows.ts'

const LOOP = '@loopguard/agent-loop'
const ACP = '@loopguard/acp'
const agent = { id: 'worker', provider: 'p', model: 'm' }
const loop = (config?: unknown): Row => ({ id: 'loop', name: LOOP, config })
const rowsOf = (...rows: Row[]): Row[] => acpRows(rows, '/home/me/cordis.yml')

describe('the rows of a composition that an editor drives', () => {
  it('without a row for the editor: the first agent is the pattern, and no agent of the loop is made', () => {
    const first = { ...agent, system: 'Be brief.', maxTokens: 9, prompt: 'go' }
    const [own, added] = rowsOf(loop({ maxParallelToolCalls: 2, agents: [first, { ...agent, id: 'other' }] }))
    expect(own).toEqual({ id: 'loop', name: LOOP, config: { maxParallelToolCalls: 2 } })
    expect(added).toEqual({ id: 'acp', name: ACP, config: { provider: 'p', model: 'm', system: 'Be brief.', maxTokens: 9 } })
  })

  it('is the row object itself that loses its agents: where it stands in its file is known of that', () => {
    const row = loop({ agents: [agent] })
    expect(rowsOf(row)[0]).toBe(row)
  })

  it('the row comes last, and its id is free, also among those of groups', () => {
    const group: Row = { id: 'acp', name: 'cordis:group', config: [{ id: 'acp-2', name: './a.mjs' }, loop({ agents: [agent] })] }
    const rows = rowsOf(group, { id: 'last', name: './b.mjs' })
    expect(rows.map(({ id }) => id)).toEqual(['acp', 'last', 'acp-3'])
  })

  it('an expression is handed on as it is', () => {
    const model = { __jsExpr: 'process.env.MODEL' }
    expect(rowsOf(loop({ agents: [{ ...agent, model }] }))[1]?.config).toEqual({ provider: 'p', model })
  })

  it('a row for the editor stays as it is, and so do the agents of the loop', () => {
    const rows: Row[] = [loop({ agents: [agent] }), { id: 'mine', name: ACP, config: { provider: 'p', model: 'm' } }]
    const before = structuredClone(rows)
    expect(rowsOf(...rows)).toEqual(before)
  })

  it.each([
    ['no loop', []],
    ['a loop without agents', [loop()]],
    ['a loop with none', [loop({ agents: [] })]],
    ['agents that are an expression', [loop({ agents: { __jsExpr: 'agents' } })]],
    ['a loop that is disabled', [{ ...loop({ agents: [agent] }), disabled: true }]],
    ['a row for the editor that is disabled', [loop(), { id: 'a', name: ACP, disabled: true }]],
  ])('%s: says what to add', (_what, rows) => {
    expect(() => rowsOf(...rows)).toThrow(
      '/home/me/cordis.yml does not say what agent a session is to have: add a row @loopguard/acp with provider and model, or an agent to the row @loopguard/agent-loop',
    )
  })
})
