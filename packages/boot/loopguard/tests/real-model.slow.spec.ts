import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { answers, type ModelServer, says, type ServedCall, type ServerEntry, startModelServer } from '@loopguard/testkit/model-server'
import { Config } from '@loopguard/ai-sdk-model'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { AGENT, folder, HOST, ROOT, run } from './cli.ts'

const EXAMPLE = join(ROOT, 'examples/real-model/cordis.yml')
const KEY = 'sk-example-0123456789abcdef'

const bash = (id: string, command: string): ServedCall => ({ name: 'bash', id, arguments: { command, description: 'look' } })

const script: readonly ServerEntry[] = [
  answers(429, { error: { message: `slow down, ${KEY}` } }, { 'retry-after-ms': '1200' }),
  says({ text: 'I count the files.', calls: [bash('call_1', 'seq 1 7 | wc -l')] }),
  // Cut in the middle of a word; what was said by then is dropped.
  says({ text: 'There may be seven', finish: 'none' }),
  says({ calls: [bash('call_2', 'seq 1 7 | wc -l')] }),
  says({ text: 'Once more, to be sure.', calls: [bash('call_3', 'seq 1 7 | wc -l')] }),
  says({ text: 'I wait for the report.', calls: [{ name: 'wait_for_file', id: 'call_4', arguments: { path: '/tmp/no-such-report' } }] }),
  says({ text: 'There are seven files, and the report did not come.' }),
]

const runExample = (server: ModelServer, env: Readonly<Record<string, string>> = {}): ReturnType<typeof run> =>
  run(['run', EXAMPLE], { env: { PROVIDER: 'compatible', BASE_URL: server.baseURL, MODEL: 'scripted', COMPATIBLE_API_KEY: KEY, ...env } })

/** The jitter of a wait that no provider asked for. */
const withoutJitter = (text: string): string => text.replaceAll(/trying again in 0\.\d s/g, 'trying again in 0.5 s')

describe('examples/real-model', () => {
  it('gets through a rate limit, a cut stream, a call that repeats and a tool that takes too long, and prints what stands in its folder', async () => {
    await using server = await startModelServer(script)
    const { code, out, err } = await runExample(server)
    expect([code, err]).toEqual([0, ''])
    expect(`${withoutJitter(out)}\n`).toBe(await readFile(join(ROOT, 'examples/real-model/printout.txt'), 'utf8'))
    // What is printed is what went over the wire.
    expect(server.requests).toHaveLength(script.length)
    const last = JSON.stringify(server.requests.at(-1)?.body)
    expect(last).toContain('tool call timed out after 2000ms')
    expect(last).toContain('You are repeating the exact same tool call')
    expect(last).not.toContain('There may be')
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
  })

  it('says what is missing when there is no key', async () => {
    await using server = await startModelServer(script)
    const { code, out } = await runExample(server, { COMPATIBLE_API_KEY: '' })
    expect(code).toBe(3)
    expect(out).toContain(
      'MISSING_CREDENTIAL: provider "compatible" needs a key, and the environment variable COMPATIBLE_API_KEY is not set, or empty',
    )
    expect(server.requests).toEqual([])
  })

  it.each(['deepseek', 'openai', 'anthropic', 'google', 'ollama'])(
    'has a row for %s that starts, and a command in its README',
    async (provider) => {
      const keys = { DEEPSEEK_API_KEY: '', OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', GOOGLE_GENERATIVE_AI_API_KEY: '' }
      const rows = parse(await readFile(EXAMPLE, 'utf8'), { logLevel: 'error' }) as {
        config?: { provider?: string }
      }[]
      expect(rows.filter(({ config }) => config?.provider === provider)).toHaveLength(1)
      expect(await readFile(join(ROOT, 'examples/real-model/README.md'), 'utf8')).toContain(`PROVIDER=${provider} MODEL=`)
      if (provider === 'ollama') return
      // Without a key it goes no further than the row.
      const { code, out, err } = await run(['run', EXAMPLE], { env: { ...keys, PROVIDER: provider, MODEL: 'any' } })
      expect([code, err]).toEqual([3, ''])
      expect(out).toContain(`MISSING_CREDENTIAL: provider "${provider}" needs a key`)
    },
  )
})

describe('docs/models.md', () => {
  interface Row {
    readonly name: string
    readonly config: { readonly provider: string; readonly kind?: string }
  }
  const rowsOf = async (): Promise<Row[]> => {
    const page = await readFile(join(ROOT, 'docs/models.md'), 'utf8')
    return [...page.matchAll(/^```yaml\n(.*?\n)```$/gms)].flatMap(([, text]) => parse(text as string) as Row[])
  }

  it('has a row for each provider, and a composition with all of them starts', async () => {
    const rows = (await rowsOf()).filter(({ config: { kind } }) => kind !== undefined)
    expect(rows.map(({ config }) => config.provider)).toEqual(['deepseek', 'openai', 'anthropic', 'google', 'ollama', 'compatible'])
    const cwd = folder({
      'cordis.yml': `${HOST}\n${rows.map((row) => `- ${JSON.stringify(row)}`).join('\n')}\n${AGENT}`,
      'script.yml': '- text: all rows have started\n',
    })
    const { code, out, err } = await run(['run'], { cwd })
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('all rows have started')
  })

  it('has one row with a package of its own, which is taken too, and whose package must be installed', async () => {
    const [row, ...more] = (await rowsOf()).filter(({ config: { kind } }) => kind === undefined)
    expect(more).toEqual([])
    expect(Config['~standard'].validate(row?.config)).toMatchObject({ value: row?.config })
    const cwd = folder({ 'cordis.yml': `${HOST}\n- ${JSON.stringify({ id: 'mistral', ...row })}\n${AGENT}`, 'script.yml': '- text: no\n' })
    const { code, err } = await run(['run'], { cwd })
    expect(code).toBe(1)
    expect(err).toContain('run `npm install @ai-sdk/mistral`')
  })
})

describe('a row that holds a key', () => {
  it.each([
    ['as apiKey', { apiKey: KEY }, 'a key has no place in a composition'],
    ['as the name of its variable', { apiKeyEnv: KEY }, '`apiKeyEnv` must be the name of an environment variable'],
    ['in its URL', { baseURL: `https://me:${KEY}@host/v1` }, 'must hold no user or password'],
    ['in its headers', { headers: { 'x-team': KEY } }, 'holds what looks like a key'],
  ])('%s is refused, and the key is not printed', async (_where, config, said) => {
    const row = { id: 'served', name: '@loopguard/ai-sdk-model', config: { provider: 'p', kind: 'anthropic', ...config } }
    const cwd = folder({ 'cordis.yml': `${HOST}\n- ${JSON.stringify(row)}\n${AGENT}`, 'script.yml': '- text: no\n' })
    const { code, out, err } = await run(['run'], { cwd })
    expect(code).toBe(1)
    expect(err).toContain(said)
    expect(out + err).not.toContain(KEY)
  })
})
