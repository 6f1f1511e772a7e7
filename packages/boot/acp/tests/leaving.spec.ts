import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import type { Context } from '@deepseek-ai/cordis'
import * as acp from '@loopguard/acp'
import type { Frontend } from '@loopguard/agent-loop'
import { createHarness, gate, type HarnessOptions } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Frame, host, told, tool, turnEnds, until, updatesIn, waits } from './support.ts'

const call = (name: string) => ({ calls: [{ name, arguments: {} }] })

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'loopguard-acp-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('a client that leaves', () => {
  it.each([
    ['ends its input', ({ input }: Awaited<ReturnType<typeof host>>) => void input.end()],
    ['takes its end of the output away', ({ output }: Awaited<ReturnType<typeof host>>) => void output.destroy(new Error('EPIPE'))],
    ['breaks its input', ({ input }: Awaited<ReturnType<typeof host>>) => void input.destroy(new Error('ECONNRESET'))],
  ])('and %s in the middle of a tool: the turn is cancelled, the log whole and free, nothing is left', async (_how, leave) => {
    const directory = folder()
    const started = gate()
    const made = await host({ sessions: { directory }, script: [call('slow')], tools: [waits('slow', () => started.open())] })
    const { ctx, open, prompt, agent, updates } = made
    const id = await open()
    const live = agent(id)
    const events = live.session.events
    const hooks = () => Object.values(ctx.events._hooks).reduce((sum, each) => sum + (each?.length ?? 0), 0)
    const before = hooks()
    prompt(id, 'go').catch(() => {})
    await started.opened
    // So that nothing more is about to be said.
    await until(() => told(updates()).at(-1) === 'call call_1 in_progress', 'the call is told of')
    leave(made)
    await (ctx.get('frontend') as Frontend).closed
    await until(() => ctx.agentLoop.list().length === 0, 'the agent is disposed')
    expect(events.findLast(({ type }) => type === 'turn/end')?.data).toEqual({
      turn: 1,
      reason: { kind: 'aborted', reason: { kind: 'client-left' } },
    })
    expect(readdirSync(directory)).toEqual([`${id}.jsonl`])
    expect(
      readFileSync(join(directory, `${id}.jsonl`), 'utf8')
        .trimEnd()
        .split('\n'),
    ).toHaveLength(events.length)
    expect(hooks()).toBe(before)
    expect(ctx.tools.running()).toEqual([])
  })

  it('before it has opened anything', async () => {
    const { input, ctx } = await host()
    input.end()
    await (ctx.get('frontend') as Frontend).closed
    expect(ctx.agentLoop.list()).toEqual([])
  })

  it('with a request for a session on its lips: none is left open', async () => {
    const directory = folder()
    const { input, ctx, open } = await host({ sessions: { directory } })
    const created: string[] = []
    const disposed: string[] = []
    ctx.on('agent/created', ({ agent }) => void created.push(agent.id))
    ctx.on('agent/disposed', ({ agent }) => void disposed.push(agent.id))
    for (let count = 0; count < 5; count++) open().catch(() => {})
    await new Promise((resolve) => setImmediate(resolve))
    input.end()
    await (ctx.get('frontend') as Frontend).closed
    // What was asked for is looked after by then, one way or the other.
    await new Promise((resolve) => setTimeout(resolve, 100))
    await until(() => created.length === disposed.length, 'each agent is disposed')
    expect(ctx.agentLoop.list()).toEqual([])
    expect(readdirSync(directory).filter((name) => name.endsWith('.lock'))).toEqual([])
  })

  it('leaves the agents of the composition where they are', async () => {
    const { input, ctx, harness } = await host({ script: [{ text: 'Yes.' }] })
    const agent = harness.agent()
    input.end()
    await (ctx.get('frontend') as Frontend).closed
    await harness.say(agent, 'still there?')
    expect(turnEnds(agent)).toEqual(['completed'])
  })
})

/** A client that is written by hand, and reads only when it is told to. */
async function handWritten({ plugins = [], ...options }: HarnessOptions, limit = 1_000) {
  const input = new PassThrough()
  const output = new PassThrough({ highWaterMark: limit })
  const harness = await createHarness({
    ...options,
    plugins: [
      ...plugins,
      { name: 'wire', apply: (ctx) => void ctx.provide('acpWire', { input, output }) },
      [acp, { provider: 'scripted', model: 'm' }],
    ],
  })
  onTestFinished(() => harness.dispose())
  const frames: Frame[] = []
  let rest = ''
  const read = (): void => {
    for (let chunk = output.read() as Buffer | null; chunk !== null; chunk = output.read() as Buffer | null) {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) frames.push(JSON.parse(line) as Frame)
    }
  }
  const ask = (id: number, method: string, params: unknown) => input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  const answer = async (id: number): Promise<Frame> => {
    await until(() => (read(), frames.some((frame) => frame['id'] === id)), `answer ${id}`)
    return frames.find((frame) => frame['id'] === id) as Frame
  }
  ask(0, methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
  await answer(0)
  ask(1, methods.agent.session.new, { cwd: '/', mcpServers: [] })
  const { sessionId } = (await answer(1))['result'] as { sessionId: string }
  return { harness, input, output, frames, ask, answer, sessionId, read }
}

describe('a client that does not read', () => {
  it('holds up no turn, and little waits in the pipe; when it reads again, it is told all, in order', async () => {
    const big = 'x'.repeat(100_000)
    const { harness, output, frames, ask, answer, sessionId, read } = await handWritten({
      script: [...Array.from({ length: 50 }, () => call('print')), { text: 'Done.' }],
      tools: [tool('print', () => big)],
    })
    const [agent] = harness.ctx.agentLoop.list()
    const before = frames.length
    ask(2, methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] })
    await until(() => turnEnds(agent!).length === 1, 'the turn ends')
    expect(turnEnds(agent!)).toEqual(['completed'])
    // One message beyond what the pipe takes.
    expect(output.writableLength + output.readableLength).toBeLessThan(300_000)
    expect(await answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } })
    read()
    const results = told(updatesIn(frames.slice(before))).filter((line) => line.includes('completed'))
    expect(results).toEqual(Array.from({ length: 50 }, (_, index) => `call call_${index + 1} completed: ${big}`))
  })

  it('finds the question behind the call that it is about', async () => {
    const asked = gate()
    const careful = {
      name: 'careful',
      apply: (ctx: Context) =>
        void ctx.on('tools/pre-execute', () => {
          asked.open()
          return Promise.resolve({ kind: 'ask' })
        }),
    }
    const { input, frames, ask, answer, sessionId, read } = await handWritten(
      {
        script: [{ text: 'x'.repeat(10_000), ...call('delete') }, { text: 'Well.' }],
        tools: [tool('delete', () => 'gone')],
        plugins: [careful],
      },
      1,
    )
    const before = frames.length
    ask(2, methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] })
    await asked.opened
    // Time for a question that does not wait for its turn.
    for (let round = 0; round < 10; round++) await new Promise((resolve) => setImmediate(resolve))
    const question = (): Frame | undefined => frames.find(({ method }) => method === methods.client.session.requestPermission)
    await until(() => (read(), question() !== undefined), 'the question')
    const told = frames.slice(before).map(({ method, params }) => {
      const { update } = params as { readonly update?: { readonly sessionUpdate: string } }
      return update?.sessionUpdate ?? method
    })
    expect(told).toEqual(['agent_message_chunk', 'tool_call', methods.client.session.requestPermission])
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: question()?.['id'], result: { outcome: { outcome: 'cancelled' } } })}\n`)
    expect(await answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } })
  })

  it('and opens a session again is told once of what happens before it reads', async () => {
    const { harness, output, frames, ask, answer, sessionId } = await handWritten(
      { script: [{ text: 'x'.repeat(10_000) }, { text: 'Second.' }] },
      1,
    )
    const [agent] = harness.ctx.agentLoop.list()
    const prompt = (id: number) => ask(id, methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] })
    prompt(2)
    await answer(2)
    const before = frames.length
    ask(3, methods.agent.session.load, { sessionId, cwd: '/', mcpServers: [] })
    // The first words of the replay fill the pipe.
    await until(() => output.readableLength > 0, 'the replay')
    prompt(4)
    await until(() => turnEnds(agent!).length === 2, 'the second turn ends')
    await Promise.all([answer(3), answer(4)])
    const words = told(updatesIn(frames.slice(before))).map((line) => line.slice(0, 20))
    expect(words).toEqual(['user: go', `says: ${'x'.repeat(14)}`, 'says: Second.'])
  })

  it('is cancelled and left all the same', async () => {
    const started = gate()
    const { harness, input, ask, sessionId } = await handWritten(
      { script: [{ text: 'x'.repeat(10_000), ...call('slow') }], tools: [waits('slow', () => started.open())] },
      1,
    )
    const [agent] = harness.ctx.agentLoop.list()
    ask(2, methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] })
    await started.opened
    input.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } })}\n`)
    await agent!.whenIdle()
    expect(turnEnds(agent!)).toEqual(['aborted'])
    input.end()
    await until(() => harness.ctx.agentLoop.list().length === 0, 'the agent is disposed')
  })

  it('does not hold up the unloading for more than a second', async () => {
    const { harness, ask, sessionId } = await handWritten({ script: [{ text: 'x'.repeat(10_000) }] }, 1)
    ask(2, methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] })
    await until(() => turnEnds(harness.ctx.agentLoop.list()[0]!).length === 1, 'the turn ends')
    await harness.dispose()
    expect(harness.ctx.get('frontend')).toBeUndefined()
  })
})

describe('unloading', () => {
  it('cancels what runs, and answers the prompts before it hangs up', async () => {
    const started = gate()
    const { harness, open, prompt, connection, agent } = await host({
      script: [call('slow')],
      tools: [waits('slow', () => started.open())],
    })
    const id = await open()
    const both = [prompt(id, 'go'), prompt(id, 'and then')]
    await started.opened
    await until(() => agent(id).inbox.nextTurn.length === 1, 'the second waits')
    await harness.dispose()
    for (const answer of await Promise.all(both)) expect(answer).toMatchObject({ stopReason: 'cancelled' })
    await connection.closed
  })

  it('an agent that goes by itself leaves no prompt open, and its session is gone', async () => {
    const started = gate()
    const { open, prompt, agent } = await host({ script: [call('slow')], tools: [waits('slow', () => started.open())] })
    const id = await open()
    const done = prompt(id, 'go')
    await started.opened
    await agent(id).dispose()
    expect(await done).toMatchObject({ stopReason: 'cancelled' })
    await expect(prompt(id, 'again')).rejects.toMatchObject({ code: -32002 })
  })
})

it('a listener of others that throws or never settles breaks neither the turn nor what the client is told', async () => {
  const { ctx, open, prompt, updates } = await host({ deltas: true, script: [{ text: 'Yes.' }] })
  ctx.on('agent/delta', () => {
    throw new Error('torn screen')
  })
  ctx.on('session/event', () => Promise.reject(new Error('torn')) as never)
  ctx.on('agent/delta', () => new Promise(() => {}) as never)
  expect(await prompt(await open(), 'go')).toEqual({ stopReason: 'end_turn' })
  expect(told(updates())).toEqual(['says: Yes.'])
})
