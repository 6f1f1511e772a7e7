import { Context } from '@deepseek-ai/cordis'
import * as guard from '@loopguard/repeated-failure-reminder'
import { expect, it } from 'vitest'

/** What Cordis says when it loads the plugin with `config`; `undefined` when it loads. */
async function refusal(config: unknown): Promise<string | undefined> {
  const ctx = new Context()
  try {
    await ctx.plugin(guard, config as guard.Config)
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await ctx.fiber.dispose()
  }
}

const keys = 'the keys are `thresholds`, `include`, `exclude`, `argumentsPreviewChars`, `errorPreviewChars`, `maskVolatile`, `errors`'

it.each([
  ['nothing', undefined],
  ['null, which is how YAML has nothing', null],
  ['an empty map', {}],
  ['keys without a value of their own', { thresholds: undefined, errors: undefined, maskVolatile: undefined }],
  [
    'all keys',
    {
      thresholds: [5, 2],
      include: ['*'],
      exclude: ['a'],
      argumentsPreviewChars: 1,
      errorPreviewChars: 1,
      maskVolatile: false,
      errors: 'x|y',
    },
  ],
])('takes %s', async (_title, config) => {
  expect(await refusal(config)).toBeUndefined()
})

it('the configuration that Cordis keeps has every default', async () => {
  const ctx = new Context()
  const fiber = await ctx.plugin(guard, { exclude: ['x'] })
  expect(fiber.config).toEqual({
    thresholds: [3, 5],
    include: [],
    exclude: ['x'],
    argumentsPreviewChars: 500,
    errorPreviewChars: 200,
    maskVolatile: true,
  })
  await ctx.fiber.dispose()
})

it.each([
  ['thresholds', [1.5], '`thresholds` must hold only values that are an integer >= 2, got 1.5 (at index 0)'],
  ['thresholds', [], '`thresholds` must not be empty: give at least one integer >= 2, or leave the key out to get its default'],
  ['thresholds', [2, 2], '`thresholds` must not hold duplicates, got 2 more than once'],
  ['include', [''], 'each pattern of `include` must not be empty or blank, got "" (at index 0)'],
  ['exclude', 'x', '`exclude` must be a list of patterns, got "x"'],
  ['argumentsPreviewChars', 0, '`argumentsPreviewChars` must be an integer >= 1, got 0'],
  ['errorPreviewChars', '9', '`errorPreviewChars` must be an integer >= 1, got "9"'],
  ['maskVolatile', 1, '`maskVolatile` must be true or false, got 1'],
  ['maskVolatile', null, '`maskVolatile` must not be null: give it a value, or leave the key out to get its default'],
  ['errors', '[', '`errors` must be a regular expression, got "[": Invalid regular expression: /[/m: Unterminated character class'],
  ['errors', '', '`errors` must not be empty or blank, got ""'],
  ['error', 'x', 'unknown key `error` (with the value "x"): did you mean `errors`?'],
  ['maskvolatile', true, 'unknown key `maskvolatile` (with the value true): did you mean `maskVolatile`?'],
  ['enabled', true, `unknown key \`enabled\` (with the value true): ${keys}`],
])('refuses %s when it is %j', async (key, value, fault) => {
  expect(await refusal({ [key]: value })).toBe(`invalid config:\n  - repeated-failure-reminder: ${fault}`)
})

it('a host that asks no schema gets the faults from apply itself', () => {
  expect(() => guard.apply(new Context(), { thresholds: [1], errors: '(' })).toThrow(
    expect.objectContaining({
      name: 'TypeError',
      code: 'REPEATED_FAILURE_REMINDER_CONFIG',
      message: expect.stringMatching(/^repeated-failure-reminder: `thresholds`.*\nrepeated-failure-reminder: `errors`/) as string,
    }),
  )
})

it('a host that hands nothing over gets the defaults', () => {
  expect(() => guard.apply(new Context())).not.toThrow()
})

it('the module is a plugin: a name, no services, a schema and apply, and no default', () => {
  expect(guard.name).toBe('repeated-failure-reminder')
  expect(guard.inject).toEqual([])
  expect(Object.keys(guard).toSorted()).toEqual(['Config', 'apply', 'inject', 'name'])
})
