import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

interface Ended {
  readonly code: unknown
  readonly out: string
  readonly err: string
}

/** Runs a composition with the real command, in a process of its own, without a key and without a network. */
function run(composition: string, ...options: string[]): Promise<Ended> {
  const { resolve } = createRequire(import.meta.url)
  const command = dirname(resolve('loopguard/package.json'))
  const sources = ['--conditions=@loopguard/source', '--import', pathToFileURL(resolve('tsx')).href, join(command, 'src/bin.ts')]
  const start = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [join(command, 'lib/bin.js')] : sources
  return new Promise((settle) => {
    execFile(process.execPath, [...start, 'run', ...options, composition], { cwd: dirname(composition) }, (error, out, err) =>
      settle({ code: error?.code ?? 0, out, err }),
    )
  })
}

const example = fileURLToPath(new URL('../../../../examples/capped/cordis.yml', import.meta.url))

it('examples/capped: an agent that would look for ever is stopped by each limit in turn, and the printout names each', async () => {
  const { code, out, err } = await run(example)
  expect({ code, err }).toEqual({ code: 3, err: '' })
  await expect(out).toMatchFileSnapshot('../../../../examples/capped/printout.txt')
}, 120_000)

it('the summary of --json lists the limits that were reached', async () => {
  const { out } = await run(example, '--json')
  const { summary } = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '') as { summary: { limits: { limit: string }[] } }
  expect(summary.limits).toHaveLength(21)
  expect(summary.limits[0]).toEqual({ agent: 'maxStepsPerTurn', turn: 1, step: 3, limit: 'maxStepsPerTurn', value: 2 })
  expect(new Set(summary.limits.map(({ limit }) => limit)).size).toBe(9)
}, 120_000)

it('a limit of tokens that a model makes inert is warned of on standard error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'capped-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(dirname(example), folder, { recursive: true })
  await writeFile(join(folder, 'script.yml'), '- { text: Done., repeat: 9 }\n')
  const rows = ['llm', 'session', 'tools'].map((name) => `- { name: '@loopguard/${name}' }\n`).join('')
  const model = `- { name: '@loopguard/testkit/scripted-model', config: { script: script.yml } }\n`
  const agents = '{ agents: [{ id: worker, provider: scripted, model: mute, prompt: go }] }'
  const composition = join(folder, 'one.yml')
  const cap = `- { name: '@loopguard/budget', config: { maxTokensPerTurn: 5 } }\n`
  await writeFile(composition, `${rows}${model}- { name: '@loopguard/agent-loop', config: ${agents} }\n${cap}`)
  expect(await run(composition)).toMatchObject({
    code: 0,
    err: 'warning [budget] the provider scripted reports no usage for the model mute: its tokens do not count for `maxTokensPerTurn`\n',
  })
}, 120_000)
