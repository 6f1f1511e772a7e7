import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { methods } from '@agentclientprotocol/sdk'
import { describe, expect, it } from 'vitest'
import { childrenOf, editor, folder, isRunning, locks, PATTERN, rows } from './editor.ts'
import { host, tool, turnEnds, until } from './support.ts'

/** The same numbers in each run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const PROMPTS = 1_000
const SESSIONS = 10

describe('a client that sends 1,000 prompts to ten sessions and cancels at random', () => {
  it('gets an answer to each, and leaves no prompt, no listener, no call and no lock behind', async () => {
    const random = numbers(7)
    const directory = folder({})
    const { ctx, open, prompt, cancel, input, agent } = await host({
      sessions: { directory },
      script: [
        () => (random() < 0.5 ? { calls: [{ name: 'nap', arguments: {} }] } : { text: 'Done.' }),
        { repeat: Infinity, text: 'Done.' },
      ].flatMap((entry, index) => (index === 0 ? Array.from({ length: 1_500 }, () => entry as never) : [entry as never])),
      tools: [
        tool('nap', async (_args, { signal }) => {
          for (let round = 0; round < 3 && !signal.aborted; round++) await new Promise((resolve) => setImmediate(resolve))
          return 'slept'
        }),
      ],
    })
    const hooks = (): number => Object.values(ctx.events._hooks).reduce((sum, each) => sum + (each?.length ?? 0), 0)
    const before = hooks()
    const ids = await Promise.all(Array.from({ length: SESSIONS }, () => open()))
    const answers: Promise<unknown>[] = []
    for (let count = 0; count < PROMPTS; count++) {
      const id = ids[Math.floor(random() * SESSIONS)] as string
      answers.push(prompt(id, `prompt ${count}`))
      if (random() < 0.2) void cancel(ids[Math.floor(random() * SESSIONS)] as string)
      if (random() < 0.05) await new Promise((resolve) => setImmediate(resolve))
    }
    const stops = (await Promise.all(answers)).map((answer) => (answer as { stopReason: string }).stopReason)
    const counted = (reason: string): number => stops.filter((each) => each === reason).length
    expect(counted('end_turn') + counted('cancelled')).toBe(PROMPTS)
    expect(counted('end_turn')).toBeGreaterThan(50)
    expect(counted('cancelled')).toBeGreaterThan(50)
    const agents = ids.map(agent)
    const ended = agents.flatMap(turnEnds).filter((kind) => kind === 'completed').length
    expect(ended).toBe(counted('end_turn'))
    expect(agents.map(({ inbox, status }) => [inbox.hasPending, status])).toEqual(ids.map(() => [false, 'idle']))
    input.end()
    await until(() => ctx.agentLoop.list().length === 0, 'all agents are disposed')
    expect(hooks()).toBe(before)
    expect(ctx.tools.running()).toEqual([])
    expect(readdirSync(directory).filter((name) => !name.endsWith('.jsonl'))).toEqual([])
  })
})

it('a client that goes away among 200 prompts leaves no process and no lock, and every log whole', async () => {
  const script = '- { calls: [{ name: nap, arguments: {} }], repeat: 400 }\n'
  const TOOLS = `
export const inject = ['tools']
export function apply(ctx) {
  ctx.tools.register({ name: 'nap', description: '', parameters: {}, execute: (_args, { signal }) => new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 20, 'slept')
    signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason) }, { once: true })
  }) })
}
`
  const path = folder({ 'cordis.yml': rows(PATTERN), 'script.yml': script, 'tools.mjs': TOOLS })
  const { child, acp, open, prompt, exited, frames } = await editor(path)
  const inner = childrenOf(child.pid as number)
  const ids = await Promise.all([open(path), open(path), open(path)])
  for (let count = 0; count < 200; count++) prompt(ids[count % 3] as string, `prompt ${count}`).catch(() => {})
  await until(() => frames.length > 50, 'some updates')
  void acp.notify(methods.agent.session.cancel, { sessionId: ids[0] as string })
  // Both ends at once, in the middle of whatever is being said.
  child.stdout?.destroy()
  child.stdin?.destroy()
  expect(await exited).toEqual({ code: 0, signal: null })
  expect(inner.filter(isRunning)).toEqual([])
  expect(locks(path)).toEqual([])
  for (const id of ids) {
    const text = readFileSync(join(path, 'sessions', `${id}.jsonl`), 'utf8')
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => type === 'turn/start').length).toBe(events.filter(({ type }) => type === 'turn/end').length)
  }
})
