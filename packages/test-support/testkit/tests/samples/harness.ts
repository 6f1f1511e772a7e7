import { createHarness } from '@loopguard/testkit'

/** One turn of a real agent, with nothing faked but the model. Returns the types of the events in its log. */
export async function oneTurn(): Promise<string[]> {
  await using harness = await createHarness({
    script: [{ calls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is 3.' }],
    tools: [
      {
        name: 'add',
        description: 'Adds two numbers.',
        parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
        execute: (args) => String((args as { a: number }).a + (args as { b: number }).b),
      },
    ],
  })
  const agent = harness.agent()
  await harness.say(agent, 'What is 1 + 2?')
  return agent.session.events.map(({ type }) => type)
}
