import { callIdentity, createRepeatTracker, type Chain } from '@loopguard/repeat'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json, reordered } from './json.ts'

const hostile = {
  get a(): never {
    throw new Error('not for you')
  },
}

/** How many equal calls in a row the tracker has seen, told by the first threshold at which it speaks. */
function lengthOf(chain: Chain | undefined): number {
  return chain?.length ?? 0
}

describe('a run', () => {
  it('is counted for each agent object', () => {
    const tracker = createRepeatTracker({ thresholds: [2] })
    const [one, two] = [{ id: 'same' }, { id: 'same' }]
    const said = [one, two, one, two].map((agent) => tracker.observe(agent, 'look', {}) !== undefined)
    expect(said).toEqual([false, false, true, true])
  })

  it('ends with another call, and with a reset', () => {
    const tracker = createRepeatTracker()
    const agent = {}
    const lengths = (['a', 'a', 'b', 'a', undefined, 'a', 'a'] as const).map((name) => {
      if (name === undefined) tracker.reset(agent)
      else tracker.observe(agent, name, {})
      return lengthOf(tracker.save(agent))
    })
    expect(lengths).toEqual([1, 2, 1, 1, 0, 1, 2])
  })

  it('does not see calls of a tool that is left out', () => {
    const tracker = createRepeatTracker({ include: ['l*', 'note'], exclude: ['note'] })
    const agent = {}
    for (const name of ['look', 'note', 'other', 'look', 'note']) tracker.observe(agent, name, hostileUnlessLook(name))
    expect(tracker.save(agent)).toEqual({ identity: callIdentity('look', {}), length: 2 })
  })

  it('ends with a call whose arguments cannot be read, which is told', () => {
    const tracker = createRepeatTracker({ thresholds: [2] })
    const agent = {}
    tracker.observe(agent, 'look', {})
    expect(() => tracker.observe(agent, 'look', hostile)).toThrow('not for you')
    expect(tracker.save(agent)).toBeUndefined()
    expect([tracker.observe(agent, 'look', {}), tracker.observe(agent, 'look', {})].map(Boolean)).toEqual([false, true])
  })
})

describe('a chain that is saved', () => {
  it('goes on where it was loaded, for any arguments', () => {
    fc.assert(
      fc.property(json, fc.infiniteStream(fc.nat()), (args, stream) => {
        const [before, after] = [createRepeatTracker(), createRepeatTracker()]
        const [old, young] = [{}, {}]
        before.observe(old, 'look', args)
        before.observe(old, 'look', args)
        const saved = before.save(old) as Chain
        expect(saved).toEqual({ identity: callIdentity('look', args), length: 2 })
        after.load(young, JSON.parse(JSON.stringify(saved)) as Chain)
        expect(after.save(young)).toEqual(saved)
        expect(
          after.observe(
            young,
            'look',
            reordered(args, (count) => (stream.next().value ?? 0) % count),
          ),
        ).toBe(before.observe(old, 'look', args))
        expect(after.save(young)).toEqual({ ...saved, length: 3 })
        expect(after.observe(young, 'look', [args])).toBeUndefined()
        expect(lengthOf(after.save(young))).toBe(1)
      }),
    )
  })

  it('holds a digest and a number, and no argument', () => {
    const tracker = createRepeatTracker()
    const agent = {}
    expect(tracker.save(agent)).toBeUndefined()
    tracker.observe(agent, 'login', { password: 'secret' })
    expect(tracker.save(agent)).toEqual({ identity: expect.stringMatching(/^[\da-f]{64}$/) as string, length: 1 })
  })

  const identity = callIdentity('look', {})
  const wants = {
    identity: 'repeat-tool-reminder: `identity` of a saved chain must be 64 hexadecimal digits, got ',
    length: 'repeat-tool-reminder: `length` of a saved chain must be an integer >= 1, got ',
  }
  it.each([
    ['nothing', undefined, `${wants.identity}undefined`],
    ['null', null, `${wants.identity}undefined`],
    ['text', identity, `${wants.identity}undefined`],
    ['an empty map', {}, `${wants.identity}undefined`],
    ['an identity that is text of a call', { identity: '["look",{}]', length: 1 }, `${wants.identity}"[\\"look\\",{}]"`],
    ['an identity that goes on', { identity: `${identity}0`, length: 1 }, wants.identity],
    ['an identity in a list', { identity: [identity], length: 1 }, wants.identity],
    ['no length', { identity }, `${wants.length}undefined`],
    ['a length of zero', { identity, length: 0 }, `${wants.length}0`],
    ['a length that is no integer', { identity, length: 1.5 }, `${wants.length}1.5`],
    ['a length that is text', { identity, length: '2' }, `${wants.length}"2"`],
    ['a length without end', { identity, length: Infinity }, `${wants.length}Infinity`],
  ])('is refused when it is %s, and what was counted stays', (_title, chain, message) => {
    const tracker = createRepeatTracker()
    const agent = {}
    tracker.observe(agent, 'look', {})
    expect(() => tracker.load(agent, chain as Chain)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'REPEAT_BAD_CHAIN', message: expect.stringContaining(message) as string }),
    )
    expect(tracker.save(agent)).toEqual({ identity, length: 1 })
  })
})

function hostileUnlessLook(name: string): unknown {
  return name === 'look' ? {} : hostile
}
