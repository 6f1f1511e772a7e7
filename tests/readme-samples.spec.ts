import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../packages', import.meta.url))
const docs = fileURLToPath(new URL('../docs', import.meta.url))
const packages = readdirSync(root).flatMap((kind) => readdirSync(`${root}/${kind}`).map((name) => `${kind}/${name}`))

it.each(packages.filter((name) => existsSync(`${root}/${name}/tests/samples`)))(
  'every sample of code in the README of %s, and on the page of an adapter, is a file of its tests/samples, to the letter, and the other way round',
  (name) => {
    const samples = `${root}/${name}/tests/samples`
    const pages = [`${root}/${name}/README.md`, `${docs}/${name.replace('adapter/guards-', 'other-loops/')}.md`].filter((page) =>
      existsSync(page),
    )
    const blocks = pages.flatMap((page) => [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code))
    const files = readdirSync(samples).filter((file) => file.endsWith('.ts'))
    expect(new Set(blocks)).toEqual(new Set(files.map((file) => readFileSync(`${samples}/${file}`, 'utf8'))))
  },
)
