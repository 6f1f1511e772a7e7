import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { shellHost } from './support.ts'

/** What `env` prints in a command when these are set here. */
async function seen(set: Readonly<Record<string, string>>, env: readonly string[] = []): Promise<ReadonlyMap<string, string>> {
  for (const [name, value] of Object.entries(set)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { shell } = await shellHost({ env })
  const { stdout } = await shell.run({ command: 'env -0' })
  return new Map(stdout.split('\0').map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
}

const WITHHELD = [
  'OPENAI_API_KEY',
  'apiKey',
  'ACME_APIKEY',
  'GITHUB_TOKEN',
  'npm_config__authToken',
  'AWS_SECRET_ACCESS_KEY',
  'client-secret',
  'DB_PASS',
  'PGPASSWORD',
  'MyPasswordFile',
  'MYSQL_PASSWD',
  'SSH_PASSPHRASE',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'A_CREDENTIAL',
  'GH_PAT',
  'KEY',
  'TOKEN_2',
  'API_KEY2',
  'BASH_ENV',
]
const PASSED = ['PATHS_OF_MINE', 'KEYBOARD', 'MONKEY', 'COMPASS_DIR', 'TOKENIZERS_PARALLELISM', 'SECRETARY', 'PATTERN', 'HTTP_PROXY_TEST']

describe('the environment of a command', () => {
  it('is that of the process, without what looks like a credential', async () => {
    const set = Object.fromEntries([...WITHHELD, ...PASSED].map((name) => [name, `value of ${name}`]))
    const env = await seen(set)
    expect(WITHHELD.filter((name) => env.has(name))).toEqual([])
    expect(PASSED.filter((name) => env.get(name) !== set[name])).toEqual([])
    expect(env.get('PATH')).toBe(process.env['PATH'])
  })

  it('holds what is named in `env`, to the letter', async () => {
    const env = await seen({ GH_TOKEN: 'a', GL_TOKEN: 'b', gh_token: 'c' }, ['GH_TOKEN', 'NOT_SET'])
    expect([env.get('GH_TOKEN'), env.has('GL_TOKEN'), env.has('gh_token'), env.has('NOT_SET')]).toEqual(['a', false, false, false])
  })

  it('wants neither colours nor a pager, whatever the process was told', async () => {
    const env = await seen({ NO_COLOR: '', TERM: 'xterm-256color', PAGER: 'less', GIT_PAGER: 'delta' })
    expect(['NO_COLOR', 'TERM', 'PAGER', 'GIT_PAGER'].map((name) => env.get(name))).toEqual(['1', 'dumb', 'cat', 'cat'])
  })

  it('is read anew for each command', async () => {
    const { shell } = await shellHost()
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('LOOPGUARD_PROBE', 'one')
    expect((await shell.run({ command: 'echo $LOOPGUARD_PROBE' })).stdout).toBe('one\n')
    vi.stubEnv('LOOPGUARD_PROBE', 'two')
    expect((await shell.run({ command: 'echo $LOOPGUARD_PROBE' })).stdout).toBe('two\n')
  })

  it('is no wall: without a sandbox a command can read that of its parent', async () => {
    const { shell } = await shellHost()
    expect((await shell.run({ command: 'wc -c < /proc/$PPID/environ' })).exitCode).toBe(0)
  })
})
