import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loops as aiSdk } from '../src/loops/ai-sdk.ts'
import { loopBehaviours } from '../src/loops/behaviours.ts'
import { claudeCode } from '../src/loops/claude-code.ts'
import { langchain } from '../src/loops/langchain.ts'
import { loops as openaiAgents } from '../src/loops/openai-agents.ts'
import { type LoopFindings, loopTable } from '../src/loops/table.ts'

const loops = [...aiSdk, claudeCode, langchain, ...openaiAgents]
const found = new Map(loops.map((loop) => [loop, new Map<string, 'yes' | { lacks: string }>()]))
const cells = loops.flatMap((loop) => loopBehaviours.map((behaviour) => ({ title: `${loop.title}: ${behaviour.says}`, loop, behaviour })))

for (const { loop, behaviour } of cells) {
  const lacks = loop.lacks[behaviour.id]
  if (lacks !== undefined) found.get(loop)?.set(behaviour.id, { lacks })
}

it.each(cells.filter(({ loop, behaviour }) => loop.lacks[behaviour.id] === undefined))('$title', async ({ loop, behaviour }) => {
  await expect(behaviour.run(loop)).resolves.toBeUndefined()
  found.get(loop)?.set(behaviour.id, 'yes')
})

it.each(cells.filter(({ loop, behaviour }) => loop.lacks[behaviour.id] !== undefined))('not there: $title', async ({ loop, behaviour }) => {
  await expect(behaviour.run(loop)).rejects.toThrow(Error)
})

it('the first table of docs/interop.md is what this run found; UPDATE=1 writes it anew', () => {
  const page = new URL('../../../../docs/interop.md', import.meta.url)
  const [begin, end] = ['<!-- loops: written by the test run, as below -->\n', '<!-- end of loops -->\n']
  const committed = readFileSync(page, 'utf8')
  expect(committed).toContain(begin)
  const before = committed.slice(0, committed.indexOf(begin) + begin.length)
  const now = `${before}\n${loopTable(loopBehaviours, found as LoopFindings)}\n${committed.slice(committed.indexOf(end))}`
  if (process.env['UPDATE'] === '1') writeFileSync(page, now)
  expect(readFileSync(page, 'utf8')).toBe(now)
})
