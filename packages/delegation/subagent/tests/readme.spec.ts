import { readFile } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { stage } from './support.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

it('what the model reads of the tool stands there, to the letter', async () => {
  const { harness } = await stage()
  expect(readme).toContain(`\`\`\`text\n${harness.ctx.tools.get('subagent')!.description}\n\`\`\`\n`)
  const withJobs = await stage({ jobs: true })
  expect(readme).toContain(`\`\`\`text\n${withJobs.harness.ctx.tools.get('subagent')!.description}\n\`\`\`\n`)
})

it('the smallest example runs, and says what its comment says', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  expect(log.mock.calls).toEqual([[['main', 'main.1', 'main']]])
  expect(harness.ctx.agentLoop.list()).toHaveLength(1)
})
