import * as ralph from '@loopguard/ralph'
import Subagents from '@loopguard/subagent'
import { createHarness, type Harness } from '@loopguard/testkit'

const report = (status: string, summary: string) => ({
  calls: [{ name: 'report', arguments: { status, summary, evidence: [], nextSteps: [] } }],
})

/** A host with a scripted model: the parent asks, two children work, each in a round of its own. */
export const harness: Harness = await createHarness({
  plugins: [Subagents, ralph],
  script: [
    { calls: [{ name: 'ralph', arguments: { objective: 'All tests pass.', maxRounds: 5 } }] },
    report('continue', '3 of 4 pass'),
    report('complete', '4 of 4 pass'),
    { text: 'All tests pass.' },
  ],
})

await harness.say(harness.agent(), 'Make the tests pass.')
