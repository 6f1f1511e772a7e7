import { methods } from '@agentclientprotocol/sdk'
import { LlmError } from '@loopguard/llm'
import { FaultyBackend, gate } from '@loopguard/testkit'
import { describe, expect, it, vi } from 'vitest'
import { host, refusal, told, tool, turnEnds, until, waits } from './support.ts'

const call = (name: string) => ({ calls: [{ name, arguments: {} }] })
const fails = () => {
  throw new LlmError('no credit', 'PAYMENT')
}

describe('how a prompt ends', () => {
  it('as its turn does: end_turn, max_tokens, refusal', async () => {
    const { open, prompt, ctx } = await host({ script: [{ text: 'Yes.' }, { text: 'Very lo', finish: 'max-tokens' }] })
    const id = await open()
    expect(await prompt(id, 'one')).toEqual({ stopReason: 'end_turn' })
    expect(await prompt(id, 'two')).toEqual({ stopReason: 'max_tokens' })
    ctx.on('agent/pre-step', () => Promise.resolve({ kind: 'reject' }))
    expect(await prompt(id, 'three')).toEqual({ stopReason: 'refusal' })
  })

  it('with an error of the protocol where the turn ended with one, which names its code', async () => {
    const { open, prompt, updates } = await host({ script: [fails, { text: 'Back.' }] })
    const id = await open()
    expect(await refusal(prompt(id, 'one'))).toEqual({ code: -32603, message: 'no credit', data: { code: 'PAYMENT' } })
    expect(await prompt(id, 'two')).toEqual({ stopReason: 'end_turn' })
    expect(told(updates())).toEqual(['says: Back.'])
  })

  it('cancelled where a plugin has cancelled the turn, and says by what', async () => {
    const { open, prompt, ctx, agent } = await host({ script: ['hang'] })
    const id = await open()
    ctx.on('llm/stream', (_request, next) => {
      queueMicrotask(() => agent(id).cancel({ kind: 'budget', limit: 'maxTurnMs' } as never))
      return next()
    })
    expect(await prompt(id, 'one')).toEqual({
      stopReason: 'cancelled',
      _meta: { loopguard: { cause: { kind: 'budget', limit: 'maxTurnMs' } } },
    })
  })

  it('refused when it is kept by the listener that blocked it; the next one has a turn of its own behind it', async () => {
    let isOpen = false
    const { open, prompt, ctx, agent } = await host({ script: [{ text: 'One.' }, { text: 'Two.' }] })
    ctx.on('agent/pre-step', (_event, next) => (isOpen ? next() : Promise.resolve({ kind: 'reject', keep: true })))
    const id = await open()
    expect(await prompt(id, 'one')).toEqual({ stopReason: 'refusal' })
    isOpen = true
    expect(await prompt(id, 'two')).toEqual({ stopReason: 'end_turn' })
    expect(turnEnds(agent(id))).toEqual(['blocked', 'completed', 'completed'])
  })

  it('with an error when the log takes no more, and so do those behind it', async () => {
    const said = gate()
    let isFull = false
    const sessions = new FaultyBackend({ at: ({ type }) => (isFull && type === 'assistant/message' ? 'fail-write' : undefined) })
    const { open, prompt, agent } = await host({
      sessions,
      script: [async () => (await said.opened, { text: 'lost' }), { text: 'never' }],
      invariants: false,
    })
    const id = await open()
    const both = [refusal(prompt(id, 'one')), refusal(prompt(id, 'two'))]
    await until(() => agent(id).inbox.nextTurn.length === 1, 'the second waits')
    isFull = true
    said.open()
    for (const each of await Promise.all(both)) expect(each).toMatchObject({ code: -32603, data: { code: 'SESSION_WRITE_FAILED' } })
    expect(await refusal(prompt(id, 'three'))).toMatchObject({ code: -32603, data: { code: 'SESSION_WRITE_FAILED' } })
  })
})

describe('a prompt while another one is answered', () => {
  it('is a follow-up, with a turn and an answer of its own, in order', async () => {
    const started = gate()
    const go = gate()
    const { open, prompt, updates, frames, agent } = await host({
      script: [call('slow'), { text: 'First.' }, { text: 'Second.' }],
      tools: [tool('slow', async () => (started.open(), await go.opened, 'ok'))],
    })
    const id = await open()
    const first = prompt(id, 'one')
    await started.opened
    const second = prompt(id, 'two')
    await until(() => agent(id).inbox.nextTurn.length === 1, 'the second waits')
    go.open()
    expect(await Promise.all([first, second])).toEqual([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }])
    expect(told(updates()).filter((line) => line.startsWith('says'))).toEqual(['says: First.', 'says: Second.'])
    const order = frames.flatMap((frame) => {
      const params = frame['params'] as { readonly update?: { readonly content?: { readonly text?: string } } } | undefined
      if (frame['result'] !== undefined && 'stopReason' in (frame['result'] as object)) return ['answer']
      return params?.update?.content?.text === undefined ? [] : [params.update.content.text]
    })
    expect(order).toEqual(['First.', 'answer', 'Second.', 'answer'])
    expect(turnEnds(agent(id))).toEqual(['completed', 'completed'])
  })

  it('has its turn, too, when the one before it ends with an error', async () => {
    const asked = gate()
    const go = gate()
    const { open, prompt, agent } = await host({
      script: [async () => (asked.open(), await go.opened, fails()), { text: 'Second.' }, { text: 'Third.' }],
    })
    const id = await open()
    const first = refusal(prompt(id, 'one'))
    await asked.opened
    const rest = [prompt(id, 'two'), prompt(id, 'three')]
    await until(() => agent(id).inbox.nextTurn.length === 2, 'two wait')
    go.open()
    expect((await first).data).toEqual({ code: 'PAYMENT' })
    expect(await Promise.all(rest)).toEqual([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }])
    expect(turnEnds(agent(id))).toEqual(['error', 'completed', 'completed'])
  })

  it('is cancelled with it: session/cancel discards what waits', async () => {
    const started = gate()
    const { open, prompt, cancel, agent } = await host({ script: [call('slow')], tools: [waits('slow', () => started.open())] })
    const id = await open()
    const all = [prompt(id, 'one'), prompt(id, 'two'), prompt(id, 'three')]
    await started.opened
    await until(() => agent(id).inbox.nextTurn.length === 2, 'two wait')
    await cancel(id)
    expect(await Promise.all(all)).toEqual([
      { stopReason: 'cancelled', _meta: { loopguard: { cause: { kind: 'user' } } } },
      { stopReason: 'cancelled' },
      { stopReason: 'cancelled' },
    ])
    expect(turnEnds(agent(id))).toEqual(['aborted'])
  })

  it('of another session does not wait for it', async () => {
    const started = gate()
    const { open, prompt, cancel } = await host({
      script: [call('slow'), { text: 'Quick.' }],
      tools: [waits('slow', () => started.open())],
    })
    const [one, two] = [await open(), await open()]
    const first = prompt(one, 'go')
    await started.opened
    expect(await prompt(two, 'go')).toEqual({ stopReason: 'end_turn' })
    await cancel(one)
    expect(await first).toMatchObject({ stopReason: 'cancelled' })
  })
})

describe('session/cancel', () => {
  it('while a tool runs: the prompt is answered once the tool has ended, and the call is told as failed before', async () => {
    const order: string[] = []
    const started = gate()
    const { open, prompt, cancel, updates, agent } = await host({
      script: [call('slow')],
      tools: [
        waits(
          'slow',
          () => started.open(),
          () => order.push('tool has ended'),
        ),
      ],
    })
    const id = await open()
    const done = prompt(id, 'go').then((answer) => (order.push('answered'), answer))
    await started.opened
    await cancel(id)
    expect(await done).toMatchObject({ stopReason: 'cancelled' })
    expect(order).toEqual(['tool has ended', 'answered'])
    expect(told(updates()).at(-1)).toMatch(/^call call_1 failed/)
    expect(turnEnds(agent(id))).toEqual(['aborted'])
  })

  it('sent in one breath with the prompt cancels that prompt; sent before it, it does not', async () => {
    for (let round = 0; round < 20; round++) {
      const { open, acp, prompt, cancel } = await host({ script: ['hang'] })
      const id = await open()
      const done = prompt(id, 'go')
      const told = cancel(id)
      expect(await done).toMatchObject({ stopReason: 'cancelled' })
      await told
      void acp
    }
    for (let round = 0; round < 20; round++) {
      const { open, prompt, cancel } = await host({ script: [{ text: 'Yes.' }] })
      const id = await open()
      void cancel(id)
      expect(await prompt(id, 'go')).toEqual({ stopReason: 'end_turn' })
    }
  })

  it('and prompts that come in one piece are taken in order', async () => {
    // The library's client tells there of answers to what it has not asked.
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { open, input, frames, agent } = await host({ script: [{ text: 'Yes.' }, 'hang'] })
    const sessionId = await open()
    const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
    const cancels = line({ method: 'session/cancel', params: { sessionId } })
    const prompts = (id: string): string =>
      line({ id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: 'go' }] } })
    const answered = (id: string): unknown => frames.find((frame) => frame['id'] === id)?.['result']
    input.write(cancels + prompts('a'))
    await until(() => answered('a') !== undefined, 'the first answer')
    expect(answered('a')).toEqual({ stopReason: 'end_turn' })
    input.write(prompts('b') + cancels)
    await until(() => answered('b') !== undefined, 'the second answer')
    expect(answered('b')).toMatchObject({ stopReason: 'cancelled' })
    expect(agent(sessionId).status).toBe('idle')
  })

  it('of nothing that runs, and of a session that is not there, does nothing', async () => {
    const { open, prompt, cancel } = await host({ script: [{ text: 'Yes.' }] })
    const id = await open()
    await cancel(id)
    await cancel('nobody')
    expect(await prompt(id, 'go')).toEqual({ stopReason: 'end_turn' })
  })
})

describe('what a prompt may hold', () => {
  it('text, links and text resources, which the model reads as text', async () => {
    const { open, acp, harness } = await host({ script: [{ text: 'Seen.' }] })
    const sessionId = await open()
    await acp.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [
        { type: 'text', text: 'Compare' },
        { type: 'resource_link', name: 'a.ts', uri: 'file:///a.ts' },
        { type: 'resource_link', name: 'b.ts', title: 'The "b"', uri: 'file:///b.ts' },
        { type: 'resource', resource: { uri: 'file:///c"d.ts', text: 'let c\n' } },
      ],
    })
    expect(harness.model.requests[0]?.messages[0]?.content.map((block) => (block.type === 'text' ? block.text : block.type))).toEqual([
      'Compare',
      '[a.ts](file:///a.ts)',
      '[The "b"](file:///b.ts)',
      '<resource uri="file:///c\\"d.ts">\nlet c\n\n</resource>',
    ])
  })

  it('nothing else: it is refused by its place and kind, and nothing of it is queued', async () => {
    const { open, acp, agent } = await host()
    const sessionId = await open()
    const ask = (...prompt: object[]) => refusal(acp.request(methods.agent.session.prompt, { sessionId, prompt: prompt as never }))
    const text = { type: 'text', text: 'a' }
    expect(await ask()).toMatchObject({ code: -32602, message: expect.stringContaining('the prompt is empty') })
    expect(await ask(text, { type: 'image', data: '', mimeType: 'image/png' })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('prompt[1]: image is not supported'),
    })
    expect(await ask({ type: 'audio', data: '', mimeType: 'a/b' })).toMatchObject({ message: expect.stringContaining('prompt[0]: audio') })
    expect(await ask({ type: 'resource', resource: { uri: 'x:y', blob: '' } })).toMatchObject({
      message: expect.stringContaining('a resource of bytes is not supported'),
    })
    expect(agent(sessionId).session.events.map(({ type }) => type)).toEqual(['session/start', 'acp/opened'])
  })

  it('a session that is not there is not found', async () => {
    const { prompt } = await host()
    expect(await refusal(prompt('nobody', 'go'))).toMatchObject({ code: -32002, data: { sessionId: 'nobody' } })
  })
})
