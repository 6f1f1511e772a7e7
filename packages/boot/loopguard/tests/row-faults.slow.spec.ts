import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Ended, folder, run } from './cli.ts'

const PLUGIN = 'export const apply = () => {}'

const COMPOSITION = `# a comment that must survive
- id: fine
  name: ./fine.mjs
- id: unknown
  name: '@nope/none'
- id: unknown-subpath
  name: '@loopguard/llm/nope'
- name: ./missing.mjs
- id: broken
  name: ./broken.mjs
- id: typed
  name: ./typed.mjs
- id: throws
  name: ./throws.mjs
- id: restarted
  name: ./restarted.mjs
- id: rejects
  name: ./rejects.mjs
- id: text
  name: ./text.mjs
- id: no-plugin
  name: ./no-plugin.mjs
- id: waits
  name: ./waits.mjs
- id: config
  name: '@loopguard/repeat-tool-reminder'
  config: { treshold: [3] }
- id: inner
  name: ./inner.mjs
- id: itself
  name: ./itself.mjs
- id: builtin
  name: cordis:nope
- id: group
  name: cordis:group
  group: true
  config:
    - id: member
      name: ./throws.mjs
- id: off
  name: '@nope/none'
  disabled: true
- id: expression
  name: ./fine.mjs
  disabled: !!js ctx.nobody.knows
- id: expression-text
  name: ./fine.mjs
  disabled: !!js String(false)
- id: expression-config
  name: ./fine.mjs
  config: { a: [{ b: !!js process.env.NOT_SET.trim() }] }
- id: policy
  name: '@loopguard/timeout-policy'
- id: tools
  name: '@loopguard/tools'
- id: again
  name: '@loopguard/timeout-policy'
- id: llm
  name: '@loopguard/llm'
- id: model
  name: '@loopguard/testkit/scripted-model'
  config: { script: script.yml }
`

const FILES = {
  'cordis.yml': COMPOSITION,
  'fine.mjs': `export const apply = (ctx) => { ctx.logger.error('fine, but worried'); ctx.effect(() => () => console.error('fine is unloaded')) }`,
  'broken.mjs': `${PLUGIN}\nexport const name = ;`,
  // What Node before 22.18 says to a row that names a TypeScript file; these tests may run under a loader that takes such files.
  'typed.mjs': `throw Object.assign(new TypeError('Unknown file extension ".ts" for /x.ts'), { code: 'ERR_UNKNOWN_FILE_EXTENSION' })`,
  'throws.mjs': `export function apply() { throw new Error('boom', { cause: new Error('the disk is full') }) }`,
  // It is started again when the loader is ready, and fails again.
  'restarted.mjs': `export const inject = ['loader']; export function apply() { throw new Error('not the first time') }`,
  'rejects.mjs': `export const apply = async () => { throw new AggregateError([new Error('left'), new Error('right')], 'both') }`,
  'text.mjs': `export const apply = async () => { throw 'just text' }`,
  'no-plugin.mjs': 'export const x = 1',
  'waits.mjs': `export const inject = ['nobody', 'loader']; ${PLUGIN}`,
  'inner.mjs': `import 'not-installed'; ${PLUGIN}`,
  'script.yml': '- text: hello\n- cals: []\n',
  'itself.mjs': 'export const apply = (ctx) => { void ctx.fiber.dispose() }',
}

describe('a composition in which rows do not start', () => {
  let path: string
  let ended: Ended
  /** What was said, without the places. */
  let told: string

  beforeAll(async () => {
    path = folder(FILES)
    ended = await run(['run', join(path, 'cordis.yml')])
    told = ended.err.replaceAll(/^ {2}\S.*\/cordis\.yml:\d+:\d+: /gm, '  ')
  })

  it('exits with 1, says so first, and prints nothing on standard output', () => {
    expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: '' })
    expect(ended.err).toContain(`loopguard: ${join(path, 'cordis.yml')} did not load\n`)
  })

  it.each([
    [
      'a package that is not installed',
      () => `unknown (@nope/none): cannot find package "@nope/none": it is installed neither for ${path} nor beside this command`,
    ],
    [
      'a subpath that a package does not export',
      () => `unknown-subpath (@loopguard/llm/nope): Package subpath './nope' is not defined by "exports"`,
    ],
    [
      'a file that is not there, by its number without an id',
      () => `row-4 (./missing.mjs): cannot find the file "./missing.mjs" in ${path}`,
    ],
    [
      'a throw in apply, with its place and its cause',
      () =>
        `throws (./throws.mjs): boom\n    (at new apply (${pathToFileURL(path).href}/throws.mjs:1:33))\n    caused by: the disk is full`,
    ],
    [
      'a file in TypeScript, with what to do',
      () =>
        'typed (./typed.mjs): Unknown file extension ".ts" for /x.ts: this Node runs JavaScript only. Name the compiled file, or start with NODE_OPTIONS=--import=tsx\n  ',
    ],
    ['a rejection of several errors', () => `rejects (./rejects.mjs): both\n    - left`],
    ['a throw of something that is no error', () => 'text (./text.mjs): just text'],
    [
      'a module that exports no plugin',
      () => 'no-plugin (./no-plugin.mjs): exports no plugin: expected a function, a class or an object with apply(), got exports x',
    ],
    ['a service that nobody provides', () => 'waits (./waits.mjs): waits for the service "nobody", which no active row provides'],
    [
      'a refused configuration',
      () => 'config (@loopguard/repeat-tool-reminder): invalid config:\n      - repeat-tool-reminder: unknown key `treshold`',
    ],
    [
      'an import further down that leads nowhere',
      () => `inner (./inner.mjs): Cannot find package 'not-installed' imported from ${path}/inner.mjs`,
    ],
    ['a plugin that disposes itself', () => 'itself (./itself.mjs): disposed itself while it was loading'],
    ['a builtin that does not exist', () => 'builtin (cordis:nope): there is no builtin "cordis:nope", only "cordis:group"'],
    [
      'an expression that fails',
      () => 'expression (./fine.mjs): `disabled: !!js ctx.nobody.knows` fails: cannot get property "nobody" without inject\n  ',
    ],
    [
      'an expression that comes to text',
      () => 'expression-text (./fine.mjs): `disabled: !!js String(false)` comes to "false": expected true or false',
    ],
    [
      'an expression of the configuration that fails',
      () =>
        "expression-config (./fine.mjs): `config.a[0].b: !!js process.env.NOT_SET.trim()` fails: Cannot read properties of undefined (reading 'trim')\n  ",
    ],
    [
      'a guard that does what another row does',
      () =>
        `again (@loopguard/timeout-policy): does what policy (${path}/cordis.yml:52:3) does already, with the same \`config\`: take one of the two out`,
    ],
    ['a row inside a group', () => 'member (./throws.mjs): boom'],
    [
      'a malformed script, with file, line, column and what was expected',
      () => `model (@loopguard/testkit/scripted-model): ${path}/script.yml:2:3: unknown key \`cals\`, did you mean \`calls\`?`,
    ],
  ])('names the row, the package and the cause: %s', (_, expected) => {
    expect(told).toContain(`\n  ${expected()}`)
  })

  it('says where each row stands, also in a group', () => {
    expect(ended.err).toContain(`\n  ${path}/cordis.yml:4:3: unknown (@nope/none): `)
    expect(ended.err).toContain(`\n  ${path}/cordis.yml:38:7: member (./throws.mjs): `)
  })

  it('shows where a syntax error stands', () => {
    expect(told).toMatch(/\n {2}broken \(\.\/broken\.mjs\): .*broken\.mjs:2\n {4}export const name = ;\n/)
  })

  it('names no row that is active, and none that is disabled', () => {
    expect(told).not.toMatch(/\n {2}(?:fine|group|off|llm) \(/)
  })

  it('shows what an active row logged at error level, and each fault only once', () => {
    expect(ended.err).toContain('error [loader] fine, but worried')
    for (const fault of [/left/g, /not the first time/g]) expect(ended.err.match(fault)).toHaveLength(1)
  })

  it('unloads what did start', () => {
    expect(ended.err).toContain('fine is unloaded')
  })

  it('leaves the file as it was, to the byte', () => {
    expect(readFileSync(join(path, 'cordis.yml'), 'utf8')).toBe(COMPOSITION)
  })
})

describe('a row that takes for ever', () => {
  it('is named once the limit has passed, and those behind it are not blamed', async () => {
    const path = folder({
      'cordis.yml': ['hangs', 'never-imported', 'behind'].map((name) => `- { id: ${name}, name: ./${name}.mjs }\n`).join(''),
      'hangs.mjs': 'export const apply = () => new Promise(() => {})',
      'never-imported.mjs': `await new Promise(() => {}); ${PLUGIN}`,
      'behind.mjs': PLUGIN,
    })
    const { code, err } = await run(['run', join(path, 'cordis.yml'), '--load-limit', '300'])
    expect(code).toBe(1)
    expect(
      err
        .replaceAll(/^ {2}\S.*\/cordis\.yml:\d:3: /gm, '  ')
        .split('\n')
        .slice(1),
    ).toEqual([
      '  hangs (./hangs.mjs): still loading after 300 ms: its apply() has not settled',
      '  never-imported (./never-imported.mjs): still being imported after 300 ms',
      '  behind (./behind.mjs): did not start: rows start in order, and one before it is not there yet',
    ])
  })
})
