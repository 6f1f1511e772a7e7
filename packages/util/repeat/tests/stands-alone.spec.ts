import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

it('imports nothing but its own files, so that every runtime can load it', async () => {
  const folder = new URL('../src/', import.meta.url)
  const texts = await Promise.all((await readdir(folder)).map((file) => readFile(new URL(file, folder), 'utf8')))
  const from = texts.flatMap((text) => [...text.matchAll(/(?: from |import\(|^import )'([^']+)'/gm)].map(([, path]) => path as string))
  expect(from.length).toBeGreaterThan(15)
  expect(from.filter((path) => !path.startsWith('./'))).toEqual([])
  const { dependencies, peerDependencies } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as Record<
    string,
    unknown
  >
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined])
})
