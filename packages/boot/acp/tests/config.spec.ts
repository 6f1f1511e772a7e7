import * as acp from '@loopguard/acp'
import { createHarness } from '@loopguard/testkit'
import { expect, it } from 'vitest'
import { wireWithTap } from './support.ts'

const mount = async (config: unknown): Promise<string> => {
  const { input, output } = wireWithTap()
  const wire = { name: 'wire', apply: (ctx: import('@deepseek-ai/cordis').Context) => void ctx.provide('acpWire', { input, output }) }
  try {
    const harness = await createHarness({ plugins: [wire, [acp, config]] })
    await harness.dispose()
    return 'mounted'
  } catch (error) {
    return (error as Error).message
  }
}

const right = { provider: 'p', model: 'm' }

it.each([
  ['an unknown key', { ...right, modle: 'm' }, 'acp: unknown key `modle`'],
  ['no model', { provider: 'p' }, 'model'],
  ['nothing', undefined, 'provider'],
  ['a blank provider', { ...right, provider: ' ' }, '`provider` must be non-blank text, got " "'],
  ['half a token', { ...right, maxTokens: 0.5 }, 'maxTokens'],
  ['no token', { ...right, maxTokens: 0 }, 'maxTokens'],
  ['an explicit null', { ...right, system: null }, '`system` is null'],
  ['a list', [], 'must be a map'],
])('%s is refused', async (_what, config, words) => {
  expect(await mount(config)).toContain(words)
})

it('provider and model are enough, and there may be more', async () => {
  expect(await mount(right)).toBe('mounted')
  expect(await mount({ ...right, system: '', maxTokens: 1 })).toBe('mounted')
})
