import { Config } from '@loopguard/ai-sdk-model'
import { describe, expect, it } from 'vitest'
import { KEY } from './stage.ts'

interface Outcome {
  readonly value?: unknown
  readonly issues?: readonly { readonly message: string; readonly path?: readonly PropertyKey[] }[]
}

const outcomeOf = (config: unknown): Outcome => Config['~standard'].validate(config) as Outcome
const saidOf = (config: unknown): string => (outcomeOf(config).issues ?? []).map(({ message }) => message).join('\n')
const row = { provider: 'p', kind: 'anthropic' }
const compatible = { provider: 'p', kind: 'openai-compatible', baseURL: 'http://127.0.0.1:11434/v1' }
const own = {
  provider: 'p',
  package: '@ai-sdk/mistral',
  factory: 'createMistral',
  baseURL: 'https://api.mistral.ai/v1',
  apiKeyEnv: 'MISTRAL_API_KEY',
}

describe('a row', () => {
  it('has defaults', () => {
    expect(outcomeOf(row).value).toEqual({ ...row, idleTimeoutMs: 120_000, sendReasoning: true })
  })

  it.each([
    row,
    compatible,
    own,
    { ...row, kind: 'openai', apiKeyEnv: 'WORK_KEY', idleTimeoutMs: 1, sendReasoning: false },
    { ...row, headers: { 'X-Team': 'loop' }, providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } } },
    { ...compatible, baseURL: 'https://[::1]:8000/openai/v1/' },
  ])('is taken: %j', (config) => {
    expect(outcomeOf(config)).toMatchObject({ value: config })
  })

  it.each<[unknown, string]>([
    [{}, 'ai-sdk-model: `provider` is missing: it is what agents name'],
    [{ ...row, provider: ' ' }, '`provider` must be a name, got " "'],
    [{ ...row, provider: 5 }, '`provider` must be a name, got 5'],
    [
      { ...row, kind: 'antropic' },
      '`kind` must be one of openai-compatible, openai, openai-chat, anthropic, deepseek, google, got "antropic"',
    ],
    [{ ...row, kind: 'toString' }, '`kind` must be one of'],
    [{ ...row, kind: ['openai'] }, '`kind` must be one of'],
    [
      { provider: 'p' },
      'a row needs a `kind` (openai-compatible, openai, openai-chat, anthropic, deepseek, google), or both a `package` and its `factory`',
    ],
    [{ ...own, factory: undefined }, 'a row needs a `kind`'],
    [{ ...own, kind: 'openai' }, 'a row has either a `kind`, or a `package` and its `factory`'],
    [{ ...row, factory: 'createMistral' }, 'a row has either a `kind`, or a `package` and its `factory`'],
    [{ ...own, package: '' }, '`package` must be a name, got ""'],
    [{ ...own, baseURL: undefined }, 'a `package` needs a `baseURL` and an `apiKeyEnv`'],
    [{ ...own, apiKeyEnv: undefined }, 'a `package` needs a `baseURL` and an `apiKeyEnv`'],
    [{ ...compatible, baseURL: undefined }, '`kind: openai-compatible` needs a `baseURL`, such as http://127.0.0.1:11434/v1'],
    [{ ...row, baseURL: 'localhost:11434' }, '`baseURL` must be an http or https URL, got "localhost:11434"'],
    [{ ...row, baseURL: 'api.anthropic.com/v1' }, '`baseURL` must be an http or https URL'],
    [{ ...row, baseURL: 'file:///etc' }, '`baseURL` must be an http or https URL'],
    [{ ...row, baseURL: 8080 }, '`baseURL` must be an http or https URL, got 8080'],
    [
      { ...row, baseURL: 'https://host/v1?version=2' },
      '`baseURL` must end with its path, as paths are added to it; it names the host host',
    ],
    [{ ...row, baseURL: 'https://host/v1#top' }, '`baseURL` must end with its path'],
    [{ ...row, headers: ['x'] }, '`headers` must be a map of names to text, got an array'],
    [{ ...row, headers: { 'x y': 'z' } }, '`headers` holds "x y", which is no name of a header'],
    [{ ...row, headers: { 'x-y': 5 } }, '`headers.x-y` must be text of printable characters, got 5'],
    [{ ...row, headers: { 'x-y': 'a\nb' } }, '`headers.x-y` must be text of printable characters, got others'],
    [{ ...row, idleTimeoutMs: 0 }, '`idleTimeoutMs` must be an integer from 1 to 2147483647, got 0'],
    [{ ...row, idleTimeoutMs: 2_147_483_648 }, '`idleTimeoutMs` must be'],
    [{ ...row, idleTimeoutMs: '2 min' }, '`idleTimeoutMs` must be an integer from 1 to 2147483647, got "2 min"'],
    [{ ...row, idleTimeoutMs: 1.5 }, '`idleTimeoutMs` must be'],
    [{ ...row, sendReasoning: 'yes' }, '`sendReasoning` must be true or false, got "yes"'],
    [{ ...row, providerOptions: 'fast' }, '`providerOptions` must be a map of families, got "fast"'],
    [{ ...row, providerOptions: { anthropic: true } }, '`providerOptions.anthropic` must be a map of options, got true'],
    [{ ...row, baseUrl: 'https://host/v1' }, 'unknown key `baseUrl`, did you mean `baseURL`?'],
    [{ ...row, model: 'x' }, 'unknown key `model`'],
    [{ ...row, headers: null }, '`headers` is null; leave it out to get its default'],
    [[], 'must be a map'],
  ])('is refused: %j', (config, said) => {
    expect(saidOf(config)).toContain(said)
  })
})

describe('a key in a row', () => {
  const ADVICE = 'put it into an environment variable, and its name into `apiKeyEnv`'

  it.each<[string, unknown, string]>([
    ['as apiKey', { ...row, apiKey: KEY }, ADVICE],
    ['as api_key', { ...row, api_key: KEY }, ADVICE],
    ['as authToken', { ...row, authToken: KEY }, ADVICE],
    ['in apiKeyEnv', { ...row, apiKeyEnv: KEY }, 'must be the name of an environment variable'],
    ['in apiKeyEnv, in a list', { ...row, apiKeyEnv: [KEY] }, 'must be the name of an environment variable'],
    ['in apiKeyEnv, as a reference', { ...row, apiKeyEnv: `\${${KEY}}` }, 'must be the name of an environment variable'],
    ['in provider', { ...row, provider: KEY }, '`provider` must be a name, got what looks like a key (not shown)'],
    ['in kind', { provider: 'p', kind: KEY }, 'got what looks like a key (not shown)'],
    ['in package', { ...own, package: KEY }, 'got what looks like a key (not shown)'],
    [
      'as a user of the URL',
      { ...row, baseURL: `https://${KEY}@host/v1` },
      '`baseURL` must hold no user or password; it names the host host',
    ],
    ['as a password of the URL', { ...row, baseURL: `https://me:${KEY}@host/v1` }, 'no user or password'],
    ['in the query of the URL', { ...row, baseURL: `https://host/v1?key=${KEY}` }, 'must end with its path'],
    ['in the path of the URL', { ...row, baseURL: `https://host/${KEY}/v1` }, 'must end with its path'],
    ['in what is no URL', { ...row, baseURL: `host?key=${KEY}` }, 'got what looks like a key (not shown)'],
    ['in idleTimeoutMs', { ...row, idleTimeoutMs: KEY }, 'got what looks like a key (not shown)'],
    ['in sendReasoning', { ...row, sendReasoning: { key: KEY } }, 'got what looks like a key (not shown)'],
    ['in headers', { ...row, headers: KEY }, 'got what looks like a key (not shown)'],
    ['as the name of a header', { ...row, headers: { [KEY]: 'x' } }, '`headers` holds what looks like a key (not shown)'],
    ['in a header without a telling name', { ...row, headers: { 'x-team': KEY } }, '`headers.x-team` holds what looks like a key'],
    ['in the options', { ...row, providerOptions: { anthropic: { user: KEY } } }, '`providerOptions` holds what looks like a key'],
    ['in place of the options', { ...row, providerOptions: { anthropic: KEY } }, 'got what looks like a key (not shown)'],
    ['of another shape', { ...row, provider: 'aB3'.repeat(12) }, 'got what looks like a key (not shown)'],
  ])('%s is refused, and not printed', (_where, config, said) => {
    const { issues = [] } = outcomeOf(config)
    expect(issues.map(({ message }) => message).join()).toContain(said)
    const shown = JSON.stringify(issues)
    expect(shown).not.toContain(KEY)
    expect(shown).not.toContain('aB3aB3')
  })

  it.each([
    'Authorization',
    'authorization',
    'PROXY-AUTHORIZATION',
    'X-Api-Key',
    'api-key',
    'x-goog-api-key',
    'Cookie',
    'x-auth-token',
    'client-secret',
  ])('has no place in the header %s either', (header) => {
    expect(saidOf({ ...row, headers: { [header]: 'short' } })).toContain(
      `\`headers.${header}\` may hold no credentials; ${ADVICE.replace('it', 'the key')}`,
    )
  })

  it.each(['Bearer abc', 'basic YTpi'])('nor in a value that is a credential: %s', (value) => {
    expect(saidOf({ ...row, headers: { 'x-team': value } })).toBe('ai-sdk-model: `headers.x-team` holds what looks like a key')
  })
})
