import { createUserMessage, type LlmRequest, SessionId, type StreamChunk, text } from '@loopguard/llm'
import { createHarness, gate, ScriptedModel, type ScriptEntry } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'

const request = (signal = new AbortController().signal): LlmRequest =>
  Object.freeze({ provider: 'scripted', model: 'm', messages: [], signal, sessionId: SessionId('s') })

async function ask(model: ScriptedModel, signal?: AbortSignal): Promise<StreamChunk[]> {
  const chunks: StreamChunk[] = []
  for await (const chunk of model.stream(request(signal))) chunks.push(chunk)
  return chunks
}

const finishOf = (chunks: StreamChunk[]): unknown => chunks.at(-1)
const textOf = (chunks: StreamChunk[]): string => chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.text : '')).join('')

describe('an answer', () => {
  it('becomes whole blocks, text first, then its calls, and one finish', async () => {
    const model = new ScriptedModel([{ text: 'hm', calls: [{ name: 'look', arguments: { at: 'x' } }] }])
    expect(await ask(model)).toEqual([
      { type: 'block-start', index: 0, blockType: 'text' },
      { type: 'text-delta', index: 0, text: 'hm' },
      { type: 'block-end', index: 0, block: { type: 'text', text: 'hm' } },
      { type: 'block-start', index: 1, blockType: 'tool-call' },
      { type: 'tool-call-delta', index: 1, id: 'call_1', name: 'look', argumentsDelta: '{"at":"x"}' },
      { type: 'block-end', index: 1, block: { type: 'tool-call', id: 'call_1', name: 'look', arguments: '{"at":"x"}' } },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ])
  })

  it('sends text arguments as they are, so that malformed JSON can be scripted', async () => {
    const [, delta] = await ask(new ScriptedModel([{ calls: [{ name: 'look', arguments: '{"a":1', id: 'mine' }] }]))
    expect(delta).toMatchObject({ id: 'mine', argumentsDelta: '{"a":1' })
  })

  it('reports usage only when the script gives it, and ends as the script says', async () => {
    const usage = { inputTokens: 3, outputTokens: 2 }
    const model = new ScriptedModel([
      { text: 'a', usage, finish: 'max-tokens' },
      { finish: { kind: 'error', failure: { message: 'no', code: 'X' } } },
    ])
    expect((await ask(model)).slice(-2)).toEqual([
      { type: 'usage', usage },
      { type: 'finish', reason: { kind: 'max-tokens' } },
    ])
    expect(await ask(model)).toEqual([{ type: 'finish', reason: { kind: 'error', failure: { message: 'no', code: 'X' } } }])
  })

  it('numbers the calls without an id over the whole script', async () => {
    const model = new ScriptedModel([{ calls: [{ name: 'a', arguments: {} }], repeat: 2 }])
    const ids = [...(await ask(model)), ...(await ask(model))].flatMap((chunk) => (chunk.type === 'tool-call-delta' ? [chunk.id] : []))
    expect(ids).toEqual(['call_1', 'call_2'])
  })
})

describe('an entry', () => {
  it('serves as many requests as it repeats', async () => {
    const model = new ScriptedModel([
      { text: 'twice', repeat: 2 },
      { text: 'ever', repeat: Infinity },
    ])
    const texts: string[] = []
    for (let i = 0; i < 5; i++) texts.push(textOf(await ask(model)))
    expect(texts).toEqual(['twice', 'twice', 'ever', 'ever', 'ever'])
  })

  it.each([0, -1, 1.5, Number.NaN])('cannot repeat %d times', (repeat) => {
    expect(() => new ScriptedModel([{ text: 'ok' }, { repeat }])).toThrow(
      `\`repeat\` must be an integer >= 1 or Infinity, got ${repeat} (at entry 1)`,
    )
  })

  it('may be a function of the request, and of how many came before', async () => {
    const entry: ScriptEntry = async ({ model }, index) => Promise.resolve({ text: `${model} ${index}` })
    const model = new ScriptedModel([{ text: 'first' }, entry, () => 'hang'])
    await ask(model)
    expect(textOf(await ask(model))).toBe('m 1')
    const abort = new AbortController()
    const hanging = ask(model, abort.signal)
    abort.abort(new Error('enough'))
    await expect(hanging).rejects.toThrow('enough')
  })

  it('may be chunks, which are passed on as they are', async () => {
    const chunks: StreamChunk[] = [{ type: 'text-delta', index: 7, text: 'malformed on purpose' }]
    expect(await ask(new ScriptedModel([chunks]))).toEqual(chunks)
  })

  it('that hangs waits for the abort, whatever its reason, also when it came before', async () => {
    const early = new AbortController()
    early.abort('stop')
    await expect(ask(new ScriptedModel(['hang']), early.signal)).rejects.toBe('stop')
  })

  it('stops between chunks when the request is aborted', async () => {
    const abort = new AbortController()
    const seen: string[] = []
    const reading = (async () => {
      for await (const chunk of new ScriptedModel([{ text: 'a' }]).stream(request(abort.signal))) {
        seen.push(chunk.type)
        abort.abort(new Error('enough'))
      }
    })()
    await expect(reading).rejects.toThrow('enough')
    expect(seen).toEqual(['block-start'])
  })
})

describe('a script that is used up', () => {
  it('fails the request and says how many entries there were', async () => {
    const model = new ScriptedModel([{ text: 'a', repeat: 2 }])
    await ask(model)
    await ask(model)
    await expect(ask(model)).rejects.toMatchObject({
      code: 'SCRIPT_EXHAUSTED',
      message: 'the script is used up: request 3 came, and its one entry was used by the 2 before it',
    })
  })

  it('goes on when entries are added', async () => {
    const model = new ScriptedModel()
    await expect(ask(model)).rejects.toThrow('the script has no entry')
    model.push({ text: 'later' })
    expect(textOf(await ask(model))).toBe('later')
  })

  it('ends the turn of an agent with that failure, not with an exception', async () => {
    await using harness = await createHarness()
    const agent = harness.agent()
    await harness.say(agent, 'hello')
    expect(agent.session.events.at(-1)?.data).toMatchObject({ reason: { kind: 'error', error: { code: 'SCRIPT_EXHAUSTED' } } })
  })
})

describe('the requests', () => {
  it('are kept in order, unless the model is told not to', async () => {
    const kept = new ScriptedModel([{ text: 'a' }])
    const forgetful = new ScriptedModel([{ text: 'a' }], { record: false })
    const asked = request()
    for (const model of [kept, forgetful]) for await (const chunk of model.stream(asked)) finishOf([chunk])
    expect(kept.requests).toEqual([asked])
    expect([forgetful.requests, forgetful.count]).toEqual([[], 1])
  })

  it('hold what the agent sent', async () => {
    const body = gate()
    await using harness = await createHarness({
      script: [{ calls: [{ name: 'wait', arguments: {} }] }, { text: 'done' }],
      tools: [
        {
          name: 'wait',
          description: 'waits',
          parameters: {},
          execute: async (_args, { signal }) => body.wait(signal).then(() => 'waited'),
        },
      ],
    })
    const agent = harness.agent({ system: 'be brief' })
    agent.followup(createUserMessage({ content: [text('go')], source: { kind: 'user' } }))
    body.open()
    await agent.whenIdle()
    expect(harness.model.requests.map(({ system, messages }) => [system, messages.length])).toEqual([
      ['be brief', 1],
      ['be brief', 3],
    ])
    expect(harness.log).toEqual([])
  })
})
