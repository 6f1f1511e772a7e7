import { readFile } from 'node:fs/promises'
import { Context } from '@deepseek-ai/cordis'
import * as internals from '@loopguard/cordis-internals'
import { expect, it } from 'vitest'
import { announce } from './samples/announce.ts'
import { errorsOf } from './support.ts'

declare module '@deepseek-ai/cordis' {
  interface Events {
    'test/announced'(words: string): unknown
  }
}

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

it('the sample of the README is a file that runs', async () => {
  const [, block] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? []
  expect(block).toBe(await readFile(new URL('samples/announce.ts', import.meta.url), 'utf8'))
  const ctx = new Context()
  const errors = errorsOf(ctx)
  const heard: string[] = []
  ctx.on('test/announced', () => {
    throw new Error('boom')
  })
  ctx.on('test/announced', (words) => heard.push(words))
  announce(ctx, 'test/announced', 'hello')
  expect([heard, errors]).toEqual([['hello'], ['[root] test/announced: a listener of plugin "root" failed: boom']])
})

it('the README names every public value', () => {
  expect(Object.keys(internals).filter((name) => !readme.includes(`\`${name}(`))).toEqual([])
})
