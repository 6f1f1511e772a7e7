import { readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'

/** What the plugin is made of: each file that `index.ts` leads to, with its text. The companion is a plugin of its own. */
const files = new Map<string, string>()

async function follow(file: string): Promise<void> {
  if (files.has(file)) return
  const text = await readFile(new URL(`../src/${file}`, import.meta.url), 'utf8')
  files.set(file, text)
  for (const [, next] of text.matchAll(/ from '\.\/(.+)'$/gm)) await follow(next as string)
}

function outside(of: RegExp, texts: Iterable<string>): string[] {
  const found = [...texts].flatMap((text) => [...text.matchAll(of)].map(([, from]) => from as string))
  return [...new Set(found)].filter((from) => !from.startsWith('./')).toSorted()
}

beforeAll(() => follow('index.ts'))

it('brings no host with it: at run time it loads its schema library and packages of util', () => {
  expect(outside(/^(?:im|ex)port (?!type )[^;]*? from '(.+)'$/gm, files.values())).toEqual([
    '@deepseek-ai/schemastery',
    '@loopguard/advisory',
    '@loopguard/cordis-internals',
    '@loopguard/repeat',
  ])
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
