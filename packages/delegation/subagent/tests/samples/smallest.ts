import Subagents from '@loopguard/subagent'
import { createHarness, type Harness } from '@loopguard/testkit'

/** A host with a scripted model, which answers the parent, then its child, then the parent again. */
export const harness: Harness = await createHarness({
  plugins: [Subagents],
  script: [
    { calls: [{ name: 'subagent', arguments: { description: 'count files', prompt: 'How many files are there in src?' } }] },
    { text: 'There are 7.' },
    { text: 'It has 7 files.' },
  ],
})

const agent = harness.agent({ id: 'main' })
await harness.say(agent, 'How big is src?')
console.log(harness.model.requests.map(({ sessionId }) => sessionId)) // main, main.1, main
