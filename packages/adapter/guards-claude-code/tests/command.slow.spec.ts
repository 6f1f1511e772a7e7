import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { batch, emptyFolder, look, prompt, turned } from './support/events.ts'

const { resolve } = createRequire(import.meta.url)
const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const SOURCE = ['--conditions=@loopguard/source', '--import', pathToFileURL(resolve('tsx')).href, at('src/bin.ts')]
const COMMAND = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [at('bin.js')] : SOURCE

interface Ended {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

/** One event is one process, as Claude Code has it. */
function send(input: string, ...args: string[]): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(process.execPath, [...COMMAND, ...args], (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

it('counts across processes: 3, 5 and 8, a prompt begins anew, and a sub-agent stands alone', async () => {
  const folder = emptyFolder()
  const sub = { agent_id: 'sub' }
  const events = [
    ...Array.from({ length: 8 }, (_, index) => batch([index % 2 === 0 ? look : turned])),
    batch([look], sub),
    prompt(),
    batch(),
    batch(),
    batch([look], sub),
    batch([look], sub),
    batch(),
  ]
  const ended: Ended[] = []
  for (const event of events) ended.push(await send(JSON.stringify(event), '--state', folder))
  expect(ended.filter(({ code, stderr }) => code !== 0 || stderr !== '')).toEqual([])
  expect(ended.flatMap(({ stdout }, index) => (stdout === '' ? [] : [index + 1]))).toEqual([3, 5, 8, 14, 15])
  expect(JSON.parse(ended[2]?.stdout ?? '')).toEqual({
    hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: expect.stringMatching(/^You are repeating/) as string },
  })
})

it('ends with 1, which does not block, and one line for the user when it cannot work', async () => {
  const folder = emptyFolder()
  const ended = [
    await send('no JSON', '--state', folder),
    await send(JSON.stringify(batch()), '--state', folder, '--config', '{"thresholds":[1]}'),
    await send(JSON.stringify({ ...batch(), hook_event_name: 'PostToolUse' }), '--state', folder),
  ]
  expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual([
    [1, ''],
    [1, ''],
    [1, ''],
  ])
  for (const { stderr } of ended) expect(stderr).toMatch(/^loopguard-claude-code: .+\n$/)
})
