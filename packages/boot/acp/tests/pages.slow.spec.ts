import { execFile } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { COMMAND_LINE, editor, folder } from './editor.ts'
import { told, updatesIn } from './support.ts'

const page = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block)
/** The blocks whose first line names a file. */
const filesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    ['yaml', 'js'].flatMap((language) =>
      blocks(text, language).flatMap((block) => {
        const [, name] = /^(?:#|\/\/) (\S+)\n/.exec(block) ?? []
        return name === undefined ? [] : [[name, block]]
      }),
    ),
  )

it('the README: the composition answers an editor', async () => {
  const path = folder(filesOf(page('packages/boot/acp/README.md')))
  const { open, prompt, frames, leave, exited } = await editor(path)
  await prompt(await open(path), 'hello?')
  expect(told(updatesIn(frames))).toEqual(['says: Hello, editor!'])
  leave()
  expect(await exited).toEqual({ code: 0, signal: null })
})

it('docs/editors.md: the composition asks first, runs the command in the folder of the editor, and keeps the session beside it', async () => {
  const path = folder(filesOf(page('docs/editors.md')))
  const elsewhere = realpathSync(tmpdir())
  const { open, prompt, frames } = await editor(elsewhere, {
    args: ['acp', `${path}/cordis.yml`],
    permission: () => ({ outcome: { outcome: 'selected', optionId: 'allow' } }),
  })
  const id = await open('/usr')
  expect(await prompt(id, 'where are you?')).toEqual({ stopReason: 'end_turn' })
  expect(told(updatesIn(frames))).toEqual([
    'says: I look where I am.',
    'call call_1 pending: bash {"command":"pwd","description":"where am I"}',
    'call call_1 in_progress',
    'call call_1 completed: /usr',
    'says: That was all.',
  ])
  expect(readFileSync(`${path}/sessions/${id}.jsonl`, 'utf8')).toContain('"cwd":"/usr"')
})

it('docs/editors.md: the check without an editor prints the answer, and ends', async () => {
  const text = page('docs/editors.md')
  const [, request = ''] = /^echo '(.*)' \| npx loopguard acp cordis\.yml$/m.exec(text) ?? []
  const path = folder(filesOf(text))
  const printed = await new Promise<string>((resolve, reject) => {
    const child = execFile(process.execPath, [...COMMAND_LINE, 'acp', 'cordis.yml'], { cwd: path }, (error, out) =>
      error === null ? resolve(out) : reject(error),
    )
    child.stdin?.end(`${request}\n`)
  })
  expect(JSON.parse(printed)).toMatchObject({ id: 0, result: { protocolVersion: 1, agentInfo: { name: 'loopguard' } } })
})

it('docs/editors.md: each editor starts the same command', () => {
  const text = page('docs/editors.md')
  const args = ['acp', '/home/me/agent/cordis.yml']
  const command = '/home/me/agent/node_modules/.bin/loopguard'
  expect(blocks(text, 'json').map((block) => JSON.parse(block) as unknown)).toEqual(
    blocks(text, 'json').map(() => ({ agent_servers: { Loopguard: expect.objectContaining({ command, args }) as unknown } })),
  )
  for (const block of [...blocks(text, 'lua'), ...blocks(text, 'elisp')])
    for (const part of [command, ...args]) expect(block).toContain(`"${part}"`)
  expect([blocks(text, 'json').length, blocks(text, 'lua').length, blocks(text, 'elisp').length]).toEqual([2, 2, 1])
})
