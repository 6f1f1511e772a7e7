import { readFile } from 'node:fs/promises'
import * as kit from '@loopguard/kit'
import { expect, it } from 'vitest'
import { settingsOf } from './samples/settings.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

it('the sample of the README is a file that runs', async () => {
  const [, block] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? []
  expect(block).toBe(await readFile(new URL('samples/settings.ts', import.meta.url), 'utf8'))
  expect(settingsOf({ depth: 3 })).toEqual({ depth: 3 })
  expect(() => settingsOf({ dept: 3 })).toThrow('unknown key `dept`, did you mean `depth`?')
  expect(() => settingsOf({ depth: 'x' })).toThrow('`depth` must be a number, got "x"')
})

it('the README names every public value', () => {
  expect(Object.keys(kit).filter((name) => !readme.includes(`\`${name}`))).toEqual([])
})
