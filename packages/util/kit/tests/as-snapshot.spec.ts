import { asSnapshot, JsonError, snapshot } from '@loopguard/kit'
import { describe, expect, it } from 'vitest'

describe('asSnapshot', () => {
  it.each([[{ a: 1, b: 'text', c: null, d: true }], [[1, 'text', null, false]]])('freezes %j itself, not a copy', (fresh) => {
    expect(asSnapshot(fresh)).toBe(fresh)
    expect(Object.isFrozen(fresh)).toBe(true)
  })

  it('makes a snapshot: nothing of it is copied again', () => {
    const fresh = asSnapshot({ a: { b: 1 } })
    expect(snapshot(fresh)).toBe(fresh)
    const outer = asSnapshot({ fresh })
    expect(outer.fresh).toBe(fresh)
  })

  it('copies what stands in it and may have another holder', () => {
    const held = { deep: { list: [1] } }
    const fresh = asSnapshot({ held, list: [held] })
    held.deep.list.push(2)
    expect(fresh).toEqual({ held: { deep: { list: [1] } }, list: [{ deep: { list: [1] } }] })
    expect(Object.isFrozen(fresh.held.deep.list)).toBe(true)
    expect(Object.isFrozen(held)).toBe(false)
  })

  it('writes a negative zero as JSON does', () => {
    expect(Object.is(asSnapshot({ zero: -0 }).zero, 0)).toBe(true)
  })

  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  it.each([
    [{ a: undefined }, 'message.a is undefined'],
    [{ a: 1, 'b c': Number.NaN }, 'message["b c"] is NaN: a number must be finite'],
    [{ a: { list: [1, () => 1] } }, 'message.a.list[1] is a function'],
    [[{ a: 1n }], 'message[0].a is a bigint'],
    [[new Date(0)], 'message[0] is a Date, not a plain object'],
    [{ cycle }, 'message.cycle.self is a cycle: it holds itself'],
  ])('refuses %o, and says where', (fresh, message) => {
    expect(() => asSnapshot(fresh, 'message')).toThrow(new JsonError(message.split(' is ')[0]!, `is ${message.split(' is ')[1]!}`))
  })
})
