import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const REMINDERS = {
  'repeat-tool-reminder': ['@deepseek-ai/schemastery', '@loopguard/advisory', '@loopguard/repeat'],
  'repeated-failure-reminder': ['@deepseek-ai/schemastery', '@loopguard/advisory', '@loopguard/cordis-internals', '@loopguard/repeat'],
}

const packages = new URL('../packages/', import.meta.url)

describe.each(Object.entries(REMINDERS))('%s', (name, loads) => {
  const files = filesOf(new URL(`../packages/guard/${name}/src/`, import.meta.url))

  it('brings no host with it: at run time it loads its schema library and packages of util', () => {
    expect(outside(/^(?:im|ex)port (?!type )[^;]*? from '(.+)'$/gm, files.values())).toEqual(loads)
  })

  it('names no type of a host, so that its declarations bring none', () => {
    expect(outside(/^import type [^;\n]*? from '(@loopguard\/.+)'$/gm, files.values())).toEqual([])
    const exported = [...(files.get('index.ts') as string).matchAll(/^export .*$/gm)].map(([line]) => line)
    expect(exported).toEqual([
      "export { Config, name } from './config.ts'",
      'export const inject: string[] = []',
      'export function apply(ctx: Context, config?: Config): void {',
    ])
  })
})

it('a guard is released with each package that it holds', () => {
  const group = new Set<string>()
  const add = (name: string): void => {
    group.add(name)
    for (const next of held.get(name) ?? []) if (!group.has(next)) add(next)
  }
  const folders = readdirSync(packages).flatMap((kind) => readdirSync(new URL(`${kind}/`, packages)).map((name) => `${kind}/${name}`))
  const held = new Map(
    folders.map((folder) => {
      const { name, dependencies = {} } = readJson<Manifest>(new URL(`${folder}/package.json`, packages))
      return [name, Object.keys(dependencies).filter((each) => each.startsWith('@loopguard/') && each !== '@loopguard/timeout')]
    }),
  )
  for (const guard of readdirSync(new URL('guard/', packages))) add(`@loopguard/${guard}`)
  const { fixed } = readJson<{ fixed: string[][] }>(new URL('../.changeset/config.json', import.meta.url))
  expect(fixed.map((names) => names.toSorted())).toEqual([[...group].toSorted()])
})

it('what a guard holds of the kit keeps no state, such as which values are snapshots', () => {
  const files = ['guard', 'util']
    .flatMap((kind) => readdirSync(new URL(`${kind}/`, packages)).map((name) => new URL(`${kind}/${name}/src/`, packages)))
    .filter((folder) => !folder.href.endsWith('/kit/src/'))
    .flatMap((folder) => readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8')))
  expect(outside(/from '(@loopguard\/kit[^']*)'/g, files)).toEqual(['@loopguard/kit/errors', '@loopguard/kit/nearest'])
})

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
}

function readJson<T>(url: URL): T {
  return JSON.parse(readFileSync(url, 'utf8')) as T
}

/** What a plugin is made of: each file that its `index.ts` leads to, with its text. The companion is a plugin of its own. */
function filesOf(folder: URL): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  const follow = (file: string): void => {
    if (files.has(file)) return
    const text = readFileSync(new URL(file, folder), 'utf8')
    files.set(file, text)
    for (const [, next] of text.matchAll(/ from '\.\/(.+)'$/gm)) follow(next as string)
  }
  follow('index.ts')
  return files
}

function outside(of: RegExp, texts: Iterable<string>): string[] {
  const found = [...texts].flatMap((text) => [...text.matchAll(of)].map(([, from]) => from as string))
  return [...new Set(found)].filter((from) => !from.startsWith('./')).toSorted()
}
