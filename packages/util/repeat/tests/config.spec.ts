import { createRepeatTracker, isReminder, remindIn, repeatConfigFaults, type RepeatConfig } from '@loopguard/repeat'
import { expect, it } from 'vitest'

it.each([
  ['the tracker', (config: RepeatConfig) => createRepeatTracker(config)],
  ['the fold', (config: RepeatConfig) => remindIn(config, [], () => ({}), String)],
])('%s refuses a faulty configuration with every fault at once', (_title, use) => {
  const faulty = { thresholds: [1, 4, 4], include: [''], exclude: null, argumentsPreviewChars: 0, treshold: 3 } as unknown as RepeatConfig
  expect(() => use(faulty)).toThrow(
    expect.objectContaining({
      name: 'TypeError',
      code: 'REPEAT_TOOL_REMINDER_CONFIG',
      message: [
        'repeat-tool-reminder: `thresholds` must hold only values that are an integer >= 2, got 1 (at index 0)',
        'repeat-tool-reminder: `thresholds` must not hold duplicates, got 4 more than once',
        'repeat-tool-reminder: each pattern of `include` must not be empty or blank, got "" (at index 0)',
        'repeat-tool-reminder: `exclude` must not be null: give it a value, or leave the key out to get its default',
        'repeat-tool-reminder: `argumentsPreviewChars` must be an integer >= 1, got 0',
        'repeat-tool-reminder: unknown key `treshold` (with the value 3): the keys are `thresholds`, `include`, `exclude`, `argumentsPreviewChars`, `results`',
      ].join('\n'),
    }),
  )
})

it.each([undefined, null, 'x', [3], 3])('%j is no configuration', (config) => {
  expect(() => remindIn(config as never, [], () => ({}), String)).toThrow('repeat-tool-reminder: the configuration must be a map')
})

it('a pattern has at most 256 characters', () => {
  expect(repeatConfigFaults({ include: ['x'.repeat(256)] })).toEqual([])
  expect(repeatConfigFaults({ exclude: ['a', 'x'.repeat(257)] })).toEqual([
    `repeat-tool-reminder: each pattern of \`exclude\` must have at most 256 characters, got 257: "${'x'.repeat(79)}… (at index 1)`,
  ])
})

it('a host may say in its own words what an unknown key was meant for', () => {
  expect(repeatConfigFaults({ treshold: [3] }, (key, keys) => `${key} of ${keys.length}`)).toEqual([
    'repeat-tool-reminder: unknown key `treshold` (with the value [3]): treshold of 5',
  ])
})

it('the defaults hold for keys that are left out or undefined, and the configuration stays as it is', () => {
  const config = Object.freeze({ thresholds: undefined, include: Object.freeze(['look']), argumentsPreviewChars: undefined })
  for (const each of [config, undefined]) {
    const tracker = createRepeatTracker(each)
    const agent = {}
    const said = Array.from({ length: 9 }, () => tracker.observe(agent, 'look', {}) ?? '')
    expect(said.flatMap((text, index) => (text === '' ? [] : [index + 1]))).toEqual([3, 5, 8])
    expect(said.filter((text) => text !== '').every(isReminder)).toBe(true)
  }
})
