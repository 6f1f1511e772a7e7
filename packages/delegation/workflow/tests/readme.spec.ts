import { expect, it, onTestFinished } from 'vitest'

it('the smallest example runs', async () => {
  const { harness, reviews } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  expect(reviews).toEqual(['It is fine.', 'It is fine.', 'It is fine.'])
})
