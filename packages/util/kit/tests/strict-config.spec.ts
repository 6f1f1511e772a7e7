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

it('a hint counts the edits between two keys', () => {
  expect(keyHint('treshold', ['thresholds', 'include'])).toBe(', did you mean `thresholds`?')
  expect(keyHint('', ['ab'])).toBe(', did you mean `ab`?')
  expect(keyHint('abcd', ['wxyz'])).toBe(', expected `wxyz`')
})
