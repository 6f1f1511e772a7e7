import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const REMINDERS = {
  'repeat-tool-reminder': ['@deepseek-ai/schemastery', '@loopguard/advisory', '@loopguard/repeat'],
  'repeated-failure-reminder': ['@deepseek-ai/schemastery', '@loopguard/advisory', '@loopguard/cordis-internals', '@loopguard/repeat'],
}

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
