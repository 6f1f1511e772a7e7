import * as aiSdkModel from '@loopguard/ai-sdk-model'
import { createHarness } from '@loopguard/testkit'

/** What a model behind this address answers. */
export async function ask(baseURL: string, words: string): Promise<unknown> {
  await using harness = await createHarness({
    plugins: [[aiSdkModel, { provider: 'local', kind: 'openai-compatible', baseURL }]],
  })
  const agent = harness.agent({ provider: 'local', model: 'qwen3' })
  await harness.say(agent, words)
  return agent.session.deriveMessages().at(-1)?.content
}
