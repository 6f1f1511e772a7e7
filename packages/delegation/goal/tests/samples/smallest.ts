import * as goal from '@loopguard/goal'
import { createHarness, type Harness } from '@loopguard/testkit'

/** A host with a scripted model that sets a goal, and never says that it is complete. */
export const harness: Harness = await createHarness({
  plugins: [goal],
  script: [
    { calls: [{ name: 'create_goal', arguments: { objective: 'All tests pass.', maxRounds: 3 } }] },
    { text: 'I am on it.', repeat: 4 },
  ],
})

const agent = harness.agent()
await harness.say(agent, 'Make the tests pass.')
console.log(goal.goalOf(agent.session)) // blocked, reason round-limit, after three rounds
