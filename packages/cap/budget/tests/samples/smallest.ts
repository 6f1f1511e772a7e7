import * as budget from '@loopguard/budget'
import { createHarness, type Harness } from '@loopguard/testkit'

/** A host whose model makes one and the same call, whatever it is told. */
export const harness: Harness = await createHarness({
  plugins: [[budget, { maxStepsPerTurn: 4, maxEqualCalls: 2 }]],
  tools: [{ name: 'look', description: 'Looks.', parameters: {}, execute: () => 'Nothing new.' }],
  script: [{ calls: [{ name: 'look', arguments: {} }], repeat: Infinity }],
})

const agent = harness.agent()
await harness.say(agent, 'Go.')
for (const { type, data } of agent.session.events) {
  if (type === 'budget/reached') console.log(`${data.limit} (${data.value}) in step ${data.step}`)
  if (type === 'turn/end') console.log(data.reason.kind)
}
