import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { labelOf, ownerOf, profileOf } from '../bench/profiler.mjs'

const STORE = 'file:///home/me/it/node_modules/.pnpm/@deepseek-ai+cordis@4.0.4/node_modules'

it.each([
  ['(garbage collector)', '', 'Node: the garbage collector', '`(garbage collector)`'],
  ['(program)', '', 'Node: native code', '`(program)`'],
  ['push', '', 'Node: native code', '`push`'],
  ['insert', 'node:internal/timers', 'Node: its JavaScript', '`insert`, node:internal/timers'],
  ['get', `${STORE}/@deepseek-ai/cordis/lib/index.js`, 'Cordis', '`get`, @deepseek-ai/cordis/index.js'],
  ['validate', 'file:///it/node_modules/ajv/dist/core.js', 'ajv', '`validate`, ajv/dist/core.js'],
  ['run', 'file:///home/me/packages/it/packages/core/tools/src/onion.ts', 'ours: core/tools', '`run`, tools/onion.ts'],
  ['', 'file:///it/packages/core/agent-loop/src/patience.ts', 'ours: core/agent-loop', '`anonymous`, agent-loop/patience.ts'],
  ['stream', 'file:///home/me/it/bench/hosts/ours.mjs', 'the benchmark', '`stream`, bench/hosts/ours.mjs'],
])('%s of "%s" belongs to: %s', (name, url, owner, label) => {
  expect({ owner: ownerOf({ name, url }), label: labelOf({ name, url }) }).toEqual({ owner, label })
})

it('a profile has the functions that ran, with their time, and nothing of waiting', async () => {
  const seen = await profileOf(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    busy(50)
  })
  const names = seen.map(({ name }) => name)
  expect(names).toContain('busy')
  expect(names).not.toContain('(idle)')
  expect(seen.find(({ name }) => name === 'busy')?.us).toBeGreaterThan(1_000)
})

it('a function of a built file is named by the source that it stands in', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loopguard-profile-'))
  try {
    const built = join(folder, 'lib.mjs')
    writeFileSync(built, `const first = 1\nexport ${busy.toString().replace('busy', 'busyBuilt')}\n`)
    // The first line is that of one source, the second that of another.
    const map = { version: 3, sources: ['src/a.ts', 'src/b.ts'], names: [], mappings: 'AAAA;ACAA' }
    writeFileSync(`${built}.map`, JSON.stringify(map))
    const { busyBuilt } = (await import(/* @vite-ignore */ pathToFileURL(built).href)) as { busyBuilt: (ms: number) => number }
    const seen = await profileOf(() => Promise.resolve(busyBuilt(50)))
    expect(seen.find(({ name }) => name === 'busyBuilt')?.url).toBe(pathToFileURL(join(folder, 'src/b.ts')).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function busy(ms: number): number {
  const until = performance.now() + ms
  let rounds = 0
  while (performance.now() < until) rounds++
  return rounds
}
