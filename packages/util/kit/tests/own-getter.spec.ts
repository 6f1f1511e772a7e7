import { ownGetter } from '@loopguard/kit'
import { expect, it } from 'vitest'

it('the property is the object’s own, is read each time, and goes where the object is spread', () => {
  let read = 0
  const object = ownGetter({ a: 1 }, 'b', () => ++read)
  expect(object).toHaveProperty('a', 1)
  expect([object.b, object.b]).toEqual([1, 2])
  expect(Object.keys(object)).toEqual(['a', 'b'])
  expect({ ...object }).toEqual({ a: 1, b: 3 })
})

it('each object has its own, under any key, also once it is frozen', () => {
  const objects = ['x', 'y', 'x'].map((key, index) => Object.freeze(ownGetter({}, key, () => index)))
  expect(objects.map((object) => Object.entries(object))).toEqual([[['x', 0]], [['y', 1]], [['x', 2]]])
  expect(() => Object.assign(objects[0]!, { x: 5 })).toThrow(TypeError)
})

it('there is one such property an object', () => {
  const object = ownGetter({}, 'a', () => 1)
  expect(() => ownGetter(object, 'b', () => 2)).toThrow(TypeError)
})

it('what the getter throws is thrown where it is read', () => {
  const object = ownGetter({}, 'a', (): never => {
    throw new Error('not yet')
  })
  expect(() => object.a).toThrow('not yet')
})
