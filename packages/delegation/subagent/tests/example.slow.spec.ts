import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('examples/research-team: two children, each with a chain of its own, a third one refused, and a goal that its cap ends', async () => {
  const { resolve } = createRequire(import.meta.url)
  const command = dirname(resolve('loopguard/package.json'))
  const sources = ['--conditions=@loopguard/source', '--import', pathToFileURL(resolve('tsx')).href, join(command, 'src/bin.ts')]
  const start = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [join(command, 'lib/bin.js')] : sources
  const composition = fileURLToPath(new URL('../../../../examples/research-team/cordis.yml', import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...start, 'run', composition], { cwd: dirname(composition) })
  expect(stderr).toBe('')
  await expect(byAgent(stdout)).toMatchFileSnapshot('example.golden.txt')
}, 120_000)

/** What was printed, each agent on its own: how the two children take turns is not told. */
function byAgent(printed: string): string {
  const blocks = new Map<string, string[]>()
  let agent = ''
  for (const line of printed.split('\n')) {
    agent = /^== (lead[.\d]*), /.exec(line)?.[1] ?? agent
    if (!line.endsWith(', continued')) blocks.set(agent, [...(blocks.get(agent) ?? []), line])
  }
  return [...blocks.values()].map((lines) => lines.join('\n')).join('\n')
}
