import * as budget from '@loopguard/budget'
import * as budgetInvariant from '@loopguard/budget/invariant'
import type { Config } from '@loopguard/budget'
import { expect, it } from 'vitest'
import { asks, logsOf, results, stage, tool, uses } from './support.ts'

const capped = (config: Partial<Config>) => stage({ tools: [tool('look')], plugins: [[budget, config], budgetInvariant] })

it('a child has a budget of its own: its steps are not its parent’s, and the result names the limit that has ended it', async () => {
  const { harness, cast, parent } = await capped({ maxStepsPerAgent: 3 })
  const logs = logsOf(harness)
  cast.play('main', asks('a', 'b'), asks('c'), { text: 'enough' })
  cast.play('main.1', { text: 'I look.', ...uses('look') }, uses('look'), uses('look'), uses('look'))
  cast.play('main.2', uses('look'), uses('look'), { text: 'done in three' })
  await harness.say(parent, 'go')
  expect(results(parent).map(({ text }) => text)).toEqual([
    'Error: subagent "main.1" did not complete: blocked (budget.maxStepsPerAgent); its last words:\n\nI look.',
    'done in three',
    'done',
  ])
  const steps = (id: string): number => logs.get(id)!.filter(({ type }) => type === 'step/start').length
  expect(['main', 'main.1', 'main.2', 'main.3'].map(steps)).toEqual([3, 3, 3, 1])
})

it('a limit of calls denies a call of a child, and ends nothing: it is not named', async () => {
  const { harness, cast, parent } = await capped({ maxEqualCalls: 1 })
  cast.play('main', asks('a'))
  cast.play('main.1', uses('look'), uses('look'), { text: 'cut', finish: 'max-tokens' })
  await harness.say(parent, 'go')
  expect(results(parent)[0]?.text).toBe('Error: subagent "main.1" did not complete: max-tokens; its last words:\n\ncut')
})
