import { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import * as reminder from '@loopguard/repeat-tool-reminder'

/** What Cordis says when it loads the plugin with `config`; `undefined` when it loads. */
async function refusal(config: unknown): Promise<string | undefined> {
  const ctx = new Context()
  try {
    await ctx.plugin(reminder, config as reminder.Config)
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await ctx.fiber.dispose()
  }
}

/** The faults, one a line, as Cordis lists them. */
function faults(...texts: string[]): string {
  return `invalid config:\n${texts.map((text) => `  - repeat-tool-reminder: ${text}`).join('\n')}`
}

describe('what is understood is loaded', () => {
  it.each([
    ['nothing', undefined],
    ['null, which is how YAML has nothing', null],
    ['an empty map', {}],
    [
      'keys without a value of their own',
      { thresholds: undefined, include: undefined, exclude: undefined, argumentsPreviewChars: undefined },
    ],
    ['all keys', { thresholds: [8, 3, 5], include: ['*'], exclude: ['todo_*'], argumentsPreviewChars: 1 }],
    ['patterns that match no tool', { include: ['no_such_tool'], exclude: [' padded ', '***'] }],
    ['one threshold', { thresholds: [2] }],
    ['large numbers', { thresholds: [1_000_000], argumentsPreviewChars: 1_000_000 }],
    ['a map without a prototype', Object.assign(Object.create(null) as object, { thresholds: [4] })],
  ])('%s', async (_title, config) => {
    expect(await refusal(config)).toBeUndefined()
  })

  it('the configuration that Cordis keeps has every default', async () => {
    const ctx = new Context()
    const fiber = await ctx.plugin(reminder, { exclude: ['x'] })
    expect(fiber.config).toEqual({ thresholds: [3, 5, 8], include: [], exclude: ['x'], argumentsPreviewChars: 500, results: 'any' })
  })

  it('what was handed over is not changed', async () => {
    const config = Object.freeze({ thresholds: Object.freeze([8, 3, 5]) })
    expect(await refusal(config)).toBeUndefined()
    expect(config.thresholds).toEqual([8, 3, 5])
  })
})

describe('thresholds', () => {
  const holdsItself: unknown[] = []
  holdsItself.push(holdsItself)
  const notInteger = (shown: string, index: number) =>
    `\`thresholds\` must hold only values that are an integer >= 2, got ${shown} (at index ${index})`

  it.each([
    ['a fraction', [1.5], notInteger('1.5', 0)],
    ['one', [3, 1], notInteger('1', 1)],
    ['zero', [0], notInteger('0', 0)],
    ['a negative', [-3], notInteger('-3', 0)],
    ['text', ['3'], notInteger('"3"', 0)],
    ['NaN', [NaN], notInteger('NaN', 0)],
    ['Infinity', [Infinity], notInteger('Infinity', 0)],
    ['null', [3, null], notInteger('null', 1)],
    ['a list', [[3]], notInteger('[3]', 0)],
    ['a bigint', [3n], notInteger('3', 0)],
    ['a list that holds itself', [holdsItself], notInteger('what is no JSON', 0)],
    ['nothing', [], '`thresholds` must not be empty: give at least one integer >= 2, or leave the key out to get its default'],
    ['the same twice', [2, 2], '`thresholds` must not hold duplicates, got 2 more than once'],
    ['the same twice, and others', [5, 3, 8, 3, 5, 3], '`thresholds` must not hold duplicates, got 3, 5 more than once'],
    ['a number', 3, '`thresholds` must be a list in which each item is an integer >= 2, got 3'],
    ['a map', { 0: 3 }, '`thresholds` must be a list in which each item is an integer >= 2, got {"0":3}'],
    ['a text', '3,5,8', '`thresholds` must be a list in which each item is an integer >= 2, got "3,5,8"'],
    ['null', null, '`thresholds` must not be null: give it a value, or leave the key out to get its default'],
  ])('refuses %s', async (_title, thresholds, fault) => {
    expect(await refusal({ thresholds })).toBe(faults(fault))
  })

  it('names every fault at once', async () => {
    expect(await refusal({ thresholds: [1, 'x', 4, 4], exclude: [''], argumentsPreviewChars: 0, extra: 1 })).toBe(
      faults(
        notInteger('1', 0),
        notInteger('"x"', 1),
        '`thresholds` must not hold duplicates, got 4 more than once',
        'each pattern of `exclude` must not be empty or blank, got "" (at index 0)',
        '`argumentsPreviewChars` must be an integer >= 1, got 0',
        'unknown key `extra` (with the value 1): the keys are `thresholds`, `include`, `exclude`, `argumentsPreviewChars`, `results`',
      ),
    )
  })
})

describe.each(['include', 'exclude'])('%s', (key) => {
  it.each([
    ['an empty pattern', [''], `each pattern of \`${key}\` must not be empty or blank, got "" (at index 0)`],
    ['a blank pattern', ['a', ' \t\n'], `each pattern of \`${key}\` must not be empty or blank, got " \\t\\n" (at index 1)`],
    ['a number', [1], `\`${key}\` must hold only patterns, which are text, got 1 (at index 0)`],
    ['null in it', [null], `\`${key}\` must hold only patterns, which are text, got null (at index 0)`],
    ['a text', 'todo_*', `\`${key}\` must be a list of patterns, got "todo_*"`],
    ['null', null, `\`${key}\` must not be null: give it a value, or leave the key out to get its default`],
  ])('refuses %s', async (_title, patterns, fault) => {
    expect(await refusal({ [key]: patterns })).toBe(faults(fault))
  })
})

describe('results', () => {
  it.each(['any', 'unchanged'])('takes %s', async (results) => {
    expect(await refusal({ results })).toBeUndefined()
  })

  it.each([
    ['changed', '"changed"'],
    ['', '""'],
    [true, 'true'],
    [['any'], '["any"]'],
  ])('refuses %j', async (results, shown) => {
    expect(await refusal({ results })).toBe(faults(`\`results\` must be "any" or "unchanged", got ${shown}`))
  })
})

describe('argumentsPreviewChars', () => {
  it.each([
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['500', '"500"'],
    [[500], '[500]'],
    [true, 'true'],
  ])('refuses %j', async (argumentsPreviewChars, shown) => {
    expect(await refusal({ argumentsPreviewChars })).toBe(faults(`\`argumentsPreviewChars\` must be an integer >= 1, got ${shown}`))
  })

  it('refuses null', async () => {
    const fault = '`argumentsPreviewChars` must not be null: give it a value, or leave the key out to get its default'
    expect(await refusal({ argumentsPreviewChars: null })).toBe(faults(fault))
  })
})

describe('unknown keys', () => {
  const keys = 'the keys are `thresholds`, `include`, `exclude`, `argumentsPreviewChars`, `results`'

  it.each([
    ['treshold', 'did you mean `thresholds`?'],
    ['Thresholds', 'did you mean `thresholds`?'],
    ['tresholds', 'did you mean `thresholds`?'],
    ['threshlods', 'did you mean `thresholds`?'],
    ['includes', 'did you mean `include`?'],
    ['inculde', 'did you mean `include`?'],
    ['excludes', 'did you mean `exclude`?'],
    ['argumentPreviewChars', 'did you mean `argumentsPreviewChars`?'],
    ['argumentsPreview', 'did you mean `argumentsPreviewChars`?'],
    ['enabled', keys],
    ['', keys],
    ['constructor', keys],
  ])('refuses %s', async (key, hint) => {
    expect(await refusal({ [key]: [3] })).toBe(faults(`unknown key \`${key}\` (with the value [3]): ${hint}`))
  })

  it('refuses one without a value, and one that YAML alone can write', async () => {
    expect(await refusal({ treshold: undefined })).toContain('unknown key `treshold` (with the value undefined)')
    expect(await refusal(JSON.parse('{"__proto__":{"thresholds":[2]}}'))).toContain('unknown key `__proto__`')
  })

  it('shows no more of a key and a value than helps', async () => {
    const long = 'x'.repeat(10_000)
    expect(await refusal({ [long]: long })).toBe(faults(`unknown key \`${'x'.repeat(80)}…\` (with the value "${'x'.repeat(79)}…): ${keys}`))
  })
})

it.each([
  ['a list', [3, 5], '[3,5]'],
  ['a text', 'thresholds', '"thresholds"'],
  ['a number', 3, '3'],
  ['a flag', true, 'true'],
])('refuses %s in place of the configuration', async (_title, config, shown) => {
  const keys = '`thresholds`, `include`, `exclude`, `argumentsPreviewChars`, `results`'
  expect(await refusal(config)).toBe(faults(`the configuration must be a map with the keys ${keys}, got ${shown}`))
})

it('a host that asks no schema gets the same faults from apply itself', () => {
  const ctx = new Context()
  expect(() => reminder.apply(ctx, { thresholds: [1], include: [''] })).toThrow(
    expect.objectContaining({
      name: 'TypeError',
      code: 'REPEAT_TOOL_REMINDER_CONFIG',
      message: [
        'repeat-tool-reminder: `thresholds` must hold only values that are an integer >= 2, got 1 (at index 0)',
        'repeat-tool-reminder: each pattern of `include` must not be empty or blank, got "" (at index 0)',
      ].join('\n'),
    }),
  )
})

it('the module is a plugin: a name, no services, a schema and apply, and no default', () => {
  expect(Object.keys(reminder).toSorted()).toEqual(['Config', 'apply', 'inject', 'name'])
  expect(reminder.name).toBe('repeat-tool-reminder')
  expect(reminder.inject).toEqual([])
})

it('a host that passes no configuration at all gets the defaults', async () => {
  const ctx = new Context()
  let threw: unknown
  await ctx.plugin({
    name: 'host',
    apply: (own: Context) => {
      try {
        reminder.apply(own)
      } catch (error) {
        threw = error
      }
    },
  })
  await ctx.fiber.dispose()
  expect(threw).toBeUndefined()
})
