import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { says, startModelServer } from '@loopguard/testkit/model-server'
import { expect, it } from 'vitest'
import { folder, ROOT } from './cli.ts'
import { Terminal } from './pty.ts'

it('docs/chat.md: six lines are enough to talk to a model', async () => {
  const page = readFileSync(join(ROOT, 'docs/chat.md'), 'utf8')
  const lines = /^```sh\n([^]*?)^```$/m.exec(page)?.[1]?.trimEnd().split('\n') ?? []
  expect(lines).toHaveLength(6)
  expect([lines[2], lines[4], lines[5]]).toEqual(["cat > cordis.yml <<'END'", 'END', 'npx loopguard chat'])
  await using server = await startModelServer([says({ text: 'Hello there.' })])
  const row = `${lines[3]?.replace('kind: deepseek', `kind: deepseek, baseURL: ${JSON.stringify(server.baseURL)}`)}\n`
  const cwd = folder({ 'cordis.yml': row })
  const key = 'sk-example-0123456789abcdef'

  const without = new Terminal(['chat'], { cwd, columns: 200, env: { DEEPSEEK_API_KEY: '' } })
  await without.until(/leaves\.\n>$/)
  without.type('hi\r')
  await without.until(
    'MISSING_CREDENTIAL: provider "deepseek" needs a key, and the environment variable DEEPSEEK_API_KEY is not set, or empty',
  )
  without.type('\u0004')
  expect(await without.end()).toBe(0)

  const terminal = new Terminal(['chat'], { cwd, env: { DEEPSEEK_API_KEY: key } })
  await terminal.until(/leaves\.\n>$/)
  expect(terminal.lines.join(' ')).toContain('chat: deepseek/deepseek-chat.')
  terminal.type('hi\r')
  await terminal.until(/Hello there\.\n>$/)
  terminal.type('/quit\r')
  expect(await terminal.end()).toBe(0)
  expect(server.requests).toHaveLength(1)
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`)
})
