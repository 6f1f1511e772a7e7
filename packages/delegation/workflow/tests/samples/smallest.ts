import Subagents from '@loopguard/subagent'
import { createHarness, type Harness } from '@loopguard/testkit'
import Workflows from '@loopguard/workflow'

/** A host with a scripted model that says the same to every agent. */
export const harness: Harness = await createHarness({
  plugins: [Subagents, Workflows],
  script: [{ text: 'It is fine.', repeat: 3 }],
})

const parent = harness.agent({ id: 'main' })
export const reviews: string[] = await harness.ctx.workflow.run({ parent, maxTotalAgents: 5 }, async ({ agent }) => {
  const outcomes = await Promise.all(['a.ts', 'b.ts', 'c.ts'].map((file) => agent({ prompt: `Review ${file}.` })))
  return outcomes.filter(({ reason }) => reason.kind === 'completed').map(({ text }) => text)
})
