import { expect, it } from 'vitest'
import { checkTarball } from '../scripts/release/contents.mjs'

const manifest = {
  name: '@loopguard/timeout-policy',
  version: '1.0.0',
  description: 'a guard',
  keywords: [],
  license: 'MIT',
  type: 'module',
  sideEffects: false,
  engines: {},
  files: [],
  exports: { '.': { types: './lib/index.d.ts', default: './lib/index.js' } },
  peerDependencies: { '@deepseek-ai/cordis': '~4.0.4' },
}
const contents = {
  LICENSE: '',
  'README.md': '',
  'package.json': '',
  'lib/index.js': "import './part.js'",
  'lib/index.js.map': '{"sources":["../src/part.ts","../src/index.ts"]}',
  'lib/index.d.ts': "import type { Context } from '@deepseek-ai/cordis'",
  'lib/part.js': '',
  'src/index.ts': '',
  'src/part.ts': '',
}

function faultsOf(fields: object, added: Record<string, string> = {}, left?: string): string[] {
  const all: Record<string, string> = { ...contents, ...added }
  const files = Object.keys(all).filter((file) => file !== left)
  return checkTarball({ manifest: { ...manifest, ...fields }, files, read: (file: string) => all[file] ?? '' })
}

it('a tarball that is whole has no fault', () => {
  expect(faultsOf({})).toEqual([])
})

it('a guard may load what it shares with the host', () => {
  const dependencies = { '@loopguard/timeout': '^1.0.0' }
  expect(faultsOf({ dependencies }, { 'lib/part.js': "import '@loopguard/timeout'" })).toEqual([])
})

it('a source that the map itself holds need not be in the tarball', () => {
  const map = '{"sources":["../src/index.ts","../../../util/kit/src/errors.ts"],"sourcesContent":[null,"export {}"]}'
  expect(faultsOf({}, { 'lib/part.js.map': map })).toEqual([])
})

it('what is no part of a package belongs in its tarball when the manifest names it as a command', () => {
  const added = { 'bin.js': "import './lib/index.js'" }
  expect(faultsOf({}, added)).toEqual(['the tarball holds bin.js'])
  expect(faultsOf({ bin: { guard: './bin.js' } }, added)).toEqual([])
})

it.each([
  ['a missing licence', faultsOf({}, {}, 'LICENSE'), 'the tarball has no LICENSE'],
  ['a workspace range', faultsOf({ dependencies: { a: 'workspace:^' } }), 'package.json still holds workspace-only fields'],
  [
    'a source condition',
    faultsOf({ exports: { '.': { '@loopguard/source': './src/index.ts' } } }),
    'package.json still holds workspace-only fields',
  ],
  [
    'an export that leads nowhere',
    faultsOf({ exports: { '.': './lib/x.js' } }),
    'package.json names lib/x.js, which is not in the tarball',
  ],
  [
    'an import of what is no dependency',
    faultsOf({}, { 'lib/part.js': "import 'ajv'" }),
    'lib/part.js imports ajv, which is no dependency',
  ],
  [
    'a built file whose source has gone',
    faultsOf({}, { 'lib/old.js.map': '{"sources":["../src/index.ts","../src/old.ts"]}' }),
    'lib/old.js.map maps to src/old.ts, which is not in the tarball',
  ],
  [
    'a guard that loads another of our packages',
    faultsOf({ dependencies: { '@loopguard/kit': '^1.0.0' } }, { 'lib/part.js': "import '@loopguard/kit'" }),
    'lib/part.js loads @loopguard/kit: a guard holds what it uses of ours',
  ],
  ['tests', faultsOf({}, { 'tests/x.ts': '' }), 'the tarball holds tests/x.ts'],
  ['an install script', faultsOf({ scripts: { postinstall: 'node x.js' } }), 'package.json has an install script'],
  [
    "a guard's declarations that bring a host, also by way of another file",
    faultsOf(
      { dependencies: { '@loopguard/tools': '^1.0.0' } },
      { 'lib/index.d.ts': "export * from './part.js'", 'lib/part.d.ts': "declare module '@loopguard/tools' {}" },
    ),
    "lib/part.d.ts names @loopguard/tools: a guard's declarations bring no host",
  ],
])('%s is a fault', (_what, faults, wanted) => {
  expect(faults).toEqual([wanted])
})
