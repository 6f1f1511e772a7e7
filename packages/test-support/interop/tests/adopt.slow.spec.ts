import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Host } from '../src/host.ts'
import { remindersOn, A } from '../src/stage.ts'
import { loopguard } from '../src/subjects/loopguard.ts'
import { published } from '../src/subjects/published.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const page = readFileSync(join(root, 'docs/adopt.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'loopguard-adopt-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isBuilt = process.env['LOOPGUARD_TEST_MODE'] === 'lib'
const flags = isBuilt ? [] : ['--conditions=@loopguard/source', '--import', 'tsx']

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code ?? '')
}

interface Row {
  readonly name: string
  readonly config?: unknown
}

it('our host: the rows on the page run, with tools, a model and an agent behind them', async () => {
  const [shown] = blocks('yaml').map((block) => parse(block) as Row[])
  const script = join(folder, 'script.yml')
  const search = { calls: [{ name: 'search', arguments: { query: 'x' } }], repeat: 3 }
  writeFileSync(script, stringify([search, { calls: [{ name: 'read_page', arguments: { page: 1 } }] }, { text: 'done' }]))
  const agents = [{ id: 'one', provider: 'scripted', model: 'example', prompt: 'go' }]
  const rows: Row[] = [
    ...(shown ?? []),
    { name: join(root, 'examples/looping-agent/tools.mjs') },
    { name: '@loopguard/testkit/scripted-model', config: { script } },
    { name: '@loopguard/agent-loop', config: { agents } },
  ]
  writeFileSync(join(folder, 'cordis.yml'), stringify(rows))
  const bin = join(root, 'packages/boot/loopguard', isBuilt ? 'lib/bin.js' : 'src/bin.ts')
  const { stdout } = await execa('node', [...flags, bin, 'run', join(folder, 'cordis.yml')], { cwd: root })
  expect(stdout).toContain('summary: 4 calls, 1 reminder, 1 timeout')
}, 30_000)

it('DeepSeek Harness: rows, aliases and example say the same', () => {
  const [, rows] = blocks('yaml').map((block) => (parse(block) as Row[]).map(({ name }) => name))
  const [json = '{}'] = blocks('json')
  const { dependencies } = JSON.parse(json) as { dependencies: Record<string, string> }
  expect(Object.keys(dependencies)).toEqual(rows)
  const example = JSON.parse(readFileSync(join(root, 'examples/deepseek-harness/package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const used = example.dependencies
  const target = (range = ''): string | undefined => /@loopguard\/[a-z-]+/.exec(range)?.[0]
  for (const [name, range] of Object.entries(dependencies)) expect(target(used[name])).toBe(target(range))
})

it('DeepSeek Harness: loaded side by side, the reminders come twice and the timeout once', async () => {
  const driver = 'deepseek-harness'
  const { host } = (await import(`../src/hosts/${driver}.ts`)) as { host: Host }
  const mounted = await host.mount()
  for (const { timeoutPolicy, repeatToolReminder } of [loopguard, published]) {
    await mounted.plug(timeoutPolicy)
    await mounted.plug(repeatToolReminder, {})
  }
  mounted.tool({
    name: 'look',
    timeoutMs: 10,
    run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(''))),
  })
  const agent = await mounted.agent('both')
  await mounted.call(A, { agent })
  await mounted.call(A, { agent })
  const result = await mounted.call(A, { agent })
  expect(remindersOn(result)).toEqual(['gentle', 'gentle'])
  expect(result.content).toEqual([{ type: 'text', text: 'Error: tool call timed out after 10ms' }])
  await mounted.dispose()
})

it('another Cordis harness: the sample on the page is a file, and it runs', async () => {
  const sample = new URL('samples/another-harness.mjs', import.meta.url)
  expect(blocks('js')).toEqual([readFileSync(sample, 'utf8')])
  const { stdout } = await execa('node', [...flags, fileURLToPath(sample)], { cwd: fileURLToPath(new URL('.', sample)) })
  const lines = stdout.split('\n')
  expect(lines.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => 'Error: tool call timed out after 20ms'))
  expect(lines.slice(3)).toEqual([expect.stringMatching(/^You are repeating the exact same tool call/)])
}, 30_000)
