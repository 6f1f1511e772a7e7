import { expect, it } from 'vitest'
import { HeldOutput } from '../src/run/held-output.ts'

it('what was written before it opens comes first, in order', () => {
  const seen: string[] = []
  const held = new HeldOutput((text) => seen.push(text))
  held.write('a')
  held.write('b')
  expect(seen).toEqual([])
  held.open()
  held.write('c')
  expect(seen).toEqual(['a', 'b', 'c'])
})

it('nothing comes of what is dropped, before and after', () => {
  const seen: string[] = []
  const held = new HeldOutput((text) => seen.push(text))
  held.write('a')
  held.drop()
  held.write('b')
  expect(seen).toEqual([])
})
