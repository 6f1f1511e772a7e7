import { says, startModelServer } from '@loopguard/testkit/model-server'

/** What a client hears of a model that calls a tool and is cut off before it says why it stopped. */
export async function cutOff(): Promise<string> {
  await using server = await startModelServer([says({ text: 'Let me see.', calls: [{ name: 'look', arguments: {} }], finish: 'none' })])
  const response = await fetch(`${server.baseURL}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'any' }) })
  return response.text()
}
