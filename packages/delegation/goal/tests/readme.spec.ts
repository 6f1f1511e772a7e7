import { readFile } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { stage } from './support.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

it('what the model reads of the tools stands there, to the letter', async () => {
  const { ctx } = await stage()
  for (const { description } of ctx.tools.schemas()) expect(readme).toContain(`\`\`\`text\n${description}\n\`\`\`\n`)
})

it('the smallest example runs, and says what its comment says', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  expect(log.mock.calls).toMatchObject([[{ phase: 'blocked', reason: 'round-limit', rounds: 3 }]])
})
