import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { expect, it, vi } from 'vitest'
import { sendPrompts } from '../src/run/agents.ts'
import { nameTheDeaf } from '../src/run/quit.ts'
import { ROOT } from './cli.ts'
import { load } from './load.ts'

const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8')
const headings = [...page.matchAll(/^### `` ?(.+?) ?``$/gm)].map(([, heading = '']) => heading)

/** Numbers are examples. */
const plain = (text: string): string => text.replaceAll(/\d+/g, '0')

async function faultOf(composition: string, files: Record<string, string> = {}, limitMs?: number): Promise<string> {
  return (await load({ 'cordis.yml': composition, ...files }, limitMs)).faults.join('\n')
}

async function deaf(): Promise<string> {
  vi.useFakeTimers()
  try {
    const call = 'agent "worker", turn 1, step 2: the call "call_3" of the tool "build"'
    let said = ''
    const stop = nameTheDeaf(
      () => [call],
      30_000,
      (text) => (said += text),
    )
    vi.advanceTimersByTime(2000)
    stop()
    return said
  } finally {
    vi.useRealTimers()
  }
}

function promptNotSent(): string {
  const worker = { id: 'worker', status: 'idle', session: { events: [{ type: 'user/message' }] } }
  const loop = { list: () => [worker], prompts: () => [{ agent: worker, prompt: 'go' }] }
  const ctx = { get: () => loop, emit: () => {} } as unknown as Context
  let said = ''
  sendPrompts(ctx, undefined, (text) => (said += text))
  return said
}

it('the page has what the command says, to the letter', async () => {
  const spin = 'export const apply = () => { const end = performance.now() + 4; while (performance.now() < end); }'
  const policy = "- name: '@loopguard/timeout-policy'\n"
  const { notes } = await load({ 'cordis.yml': "- { name: ./a.mjs, config: { agents: [{ model: '${MODEL}' }] } }\n" })
  const said = [
    await faultOf('- { name: ./a.mjs, disabled: no }\n'),
    await faultOf('- { name: ./a.mjs, disable: true }\n'),
    await faultOf(`- name: '@loopguard/tools'\n${policy}${policy}`),
    notes.join('\n'),
    promptNotSent(),
    await faultOf('- name: ./a.mjs\n\tconfig: {}\n'),
    await faultOf("- { name: '@deepseek-ai/cordis-plugin-include', config: { path: more.yml } }\n"),
    await faultOf('- name: ./spin.mjs\n'.repeat(300), { 'spin.mjs': spin }, 200),
    // What a real process says of its output is in signals.slow.spec.ts.
    'standard output: ENOSPC: no space left on device, write: cancelling',
    await deaf(),
  ].map(plain)
  expect(headings).toHaveLength(said.length)
  expect(headings.filter((heading) => !said.some((text) => text.includes(plain(heading))))).toEqual([])
})
