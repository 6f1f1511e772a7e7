import { keyHint, strictConfig } from '@loopguard/kit'
import { expect, it } from 'vitest'

/** A schema that lets everything through, and says that it was asked. */
const lenient = (): Parameters<typeof strictConfig>[1] => ({
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: { asked: value } }) },
})

const validate = (value: unknown, keys: readonly string[] = ['directory', 'maxTokens']): unknown =>
  strictConfig('plugin', lenient(), keys)['~standard'].validate(value)

const issues = (...messages: string[]): unknown => ({ issues: messages.map((message) => ({ message })) })

it('what is known goes on to the schema', () => {
  expect(validate({ directory: 'x' })).toEqual({ value: { asked: { directory: 'x' } } })
  expect(validate({ directory: undefined })).toEqual({ value: { asked: { directory: undefined } } })
})

it.each([[undefined], [null]])('%s is all defaults', (value) => {
  expect(validate(value)).toEqual({ value: { asked: {} } })
})

it.each([['text'], [7], [['a']], [true]])('%j is no configuration', (value) => {
  expect(validate(value)).toEqual(issues(`plugin: the configuration must be a map, got ${JSON.stringify(value)}`))
})

it('an unknown key is refused, with the nearest known one or all of them', () => {
  expect(validate({ directry: 'x' })).toEqual(issues('plugin: unknown key `directry`, did you mean `directory`?'))
  expect(validate({ colour: 'x' })).toEqual(issues('plugin: unknown key `colour`, expected `directory`, `maxTokens`'))
  expect(validate({ x: 1 }, [])).toEqual(issues('plugin: unknown key `x`, it takes no configuration'))
})

it('an explicit null is refused', () => {
  expect(validate({ directory: null })).toEqual(issues('plugin: `directory` is null; leave it out to get its default'))
})

it('every fault is told at once', () => {
  expect(validate({ directory: null, dir: 1 })).toMatchObject({ issues: [expect.anything(), expect.anything()] })
})

it('a check of its own adds faults, each with the owner', () => {
  const check = ({ directory }: Readonly<Record<string, unknown>>): string[] => (directory === 'x' ? ['`directory` is x'] : [])
  const asked = strictConfig('plugin', lenient(), ['directory'], { check })
  expect(asked['~standard'].validate({ directory: 'x', y: 1 })).toMatchObject({
    issues: [{ message: 'plugin: unknown key `y`, expected `directory`' }, { message: 'plugin: `directory` is x' }],
  })
  expect(asked['~standard'].validate({ directory: 'y' })).toEqual({ value: { asked: { directory: 'y' } } })
})

it('items of lists are as strict, each with its place', () => {
  const item = strictConfig('row', lenient(), ['id'])
  const asked = strictConfig('plugin', lenient(), ['rows'], { items: { rows: item } })
  expect(asked['~standard'].validate({ rows: [{ id: 1 }, { di: 2 }, null] })).toEqual({
    issues: [
      { message: 'row: unknown key `di`, did you mean `id`?', path: ['rows', 1] },
      { message: 'row: the configuration must be a map, got "nothing"', path: ['rows', 2] },
    ],
  })
  for (const rows of ['none', undefined]) expect(asked['~standard'].validate({ rows })).toEqual({ value: { asked: { rows } } })
})

it('a hint counts the edits between two keys', () => {
  expect(keyHint('treshold', ['thresholds', 'include'])).toBe(', did you mean `thresholds`?')
  expect(keyHint('', ['ab'])).toBe(', did you mean `ab`?')
  expect(keyHint('abcd', ['wxyz'])).toBe(', expected `wxyz`')
})

it('the items of a list are checked each, and an issue says where it is', () => {
  const item = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) => (value === 'good' ? { value } : { issues: [{ message: 'bad' }, { message: 'worse', path: ['id'] }] }),
    },
  }
  const schema = strictConfig('plugin', lenient(), ['rows'], { items: { rows: item } })
  expect(schema['~standard'].validate({ rows: ['good', 'other'] })).toEqual({
    issues: [
      { message: 'bad', path: ['rows', 1] },
      { message: 'worse', path: ['rows', 1, 'id'] },
    ],
  })
  expect(schema['~standard'].validate({ rows: 'no list' })).toEqual({ value: { asked: { rows: 'no list' } } })
})

it('what JSON cannot show is no configuration either', () => {
  expect(validate(Symbol('s'))).toEqual(issues('plugin: the configuration must be a map, got Symbol(s)'))
})
