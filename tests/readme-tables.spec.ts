import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const packages = new URL('../packages/delegation/', import.meta.url)

describe.each(readdirSync(packages))('the README of %s', (name) => {
  const folder = new URL(`${name}/`, packages)
  const readme = readFileSync(new URL('README.md', folder), 'utf8')
  const section = (title: string): string => readme.slice(readme.indexOf(`## ${title}`)).split('\n## ')[0] ?? ''

  it('has a table of errors that holds every code that the sources give', () => {
    const sources = new URL('src/', folder)
    const given = readdirSync(sources).flatMap((file) =>
      [...readFileSync(new URL(file, sources), 'utf8').matchAll(/HarnessError\(.*?'([A-Z]+(?:_[A-Z]+)+)'/gs)].map(([, code]) => code),
    )
    expect(new Set([...section('Errors').matchAll(/^\| `(\w+)` /gm)].map(([, code]) => code))).toEqual(new Set(given))
  })

  it('has a table of the config that holds every key and its default', async () => {
    const rows = [...section('Config').matchAll(/^\| `(\w+)` \| (?:`(\w+)`)?/gm)].map(([, key, value]) => [key, value] as const)
    const shown = Object.fromEntries(rows.filter(([, value]) => value !== undefined))
    const { Config } = (await import(new URL('src/config.ts', folder).href)) as { readonly Config: Validated }
    const { value: defaults } = Config['~standard'].validate({})
    expect(shown).toEqual(Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, String(value)])))
  })
})

interface Validated {
  readonly '~standard': { validate(value: unknown): { readonly value: object } }
}
