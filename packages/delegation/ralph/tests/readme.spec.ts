import { readFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

it('what the model reads of both tools, and of the rounds, stands there, to the letter', async () => {
  const { harness } = await import('./samples/smallest.ts')
  onTestFinished(() => harness.dispose())
  const { requests } = harness.model
  const described = requests.flatMap(({ tools = [] }) => tools).filter(({ name }) => name === 'ralph' || name === 'report')
  for (const { description } of described) expect(readme).toContain(`\`\`\`text\n${description}\n\`\`\`\n`)
  const prompts = requests
    .slice(1, 3)
    .map(({ messages }) => messages[0]!.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
  expect(prompts).toHaveLength(2)
  for (const prompt of prompts) expect(readme).toContain(`\`\`\`text\n${prompt}\n\`\`\`\n`)
  const [agent] = harness.ctx.agentLoop.list()
  const result = agent!.session.events.find(({ type }) => type === 'tool/result')
  expect(JSON.stringify(result)).toContain('Complete after round 2.')
})
