/**
 * A host that works until it is killed. `worker.ts <directory> <seed> [durable]`: waits for a byte on standard input, resumes its agent, and
 * reports each event on standard output once it is committed. Each call that runs leaves its id in the file `effects` beside the program.
 */
import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { Context } from '@deepseek-ai/cordis'
import { AgentLoop } from '@loopguard/agent-loop'
import {
  CallId,
  createUserMessage,
  LlmAdapter,
  LlmError,
  type LlmRequest,
  LlmRuntime,
  SessionId,
  type StreamChunk,
  text,
} from '@loopguard/llm'
import { SessionStore } from '@loopguard/session'
import { defineTool, type ToolDefinition, ToolRuntime } from '@loopguard/tools'

const [directory = '', seed = '1', durability = ''] = process.argv.slice(2)
let state = Number(seed)

/** An integer below `below`; the next of a sequence that the seed decides. */
function pick(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

const message = (words: string) => createUserMessage({ content: [text(words)], source: { kind: 'user' } })

const effects = openSync(fileURLToPath(new URL('effects', import.meta.url)), 'a')

function leavingEffect(execute: ToolDefinition['execute']): ToolDefinition['execute'] {
  return (args, exec) => {
    writeSync(effects, `${exec.callId}\n`)
    return execute(args, exec)
  }
}

class Busy extends LlmAdapter {
  async *stream({ messages, signal }: LlmRequest): AsyncGenerator<StreamChunk> {
    if (pick(12) === 0) throw new LlmError('busy', 'BUSY')
    yield { type: 'block-start', index: 0, blockType: 'text' }
    yield { type: 'text-delta', index: 0, text: 'after ' }
    if (pick(2) === 0) await immediate()
    signal.throwIfAborted()
    yield { type: 'block-end', index: 0, block: { type: 'text', text: `after ${messages.length}` } }
    const calls = pick(3) === 0 ? 0 : 1 + pick(4)
    for (let index = 1; index <= calls; index++) {
      const name = names[pick(names.length)] ?? 'quick'
      const id = CallId(`call-${messages.length}-${index}`)
      yield { type: 'block-start', index, blockType: 'tool-call' }
      yield { type: 'block-end', index, block: { type: 'tool-call', id, name, arguments: JSON.stringify({ index }) } }
    }
    const kinds = ['stop', 'stop', 'stop', 'max-tokens'] as const
    yield { type: 'finish', reason: { kind: kinds[pick(4)] ?? 'stop' } }
  }
}

const tools: readonly ToolDefinition[] = [
  { name: 'quick', execute: () => 'ok', isConcurrencySafe: () => true },
  {
    name: 'slow',
    async execute() {
      await sleep(pick(3))
      return 'ok'
    },
    isConcurrencySafe: () => true,
  },
  {
    name: 'alone',
    async execute() {
      await immediate()
      return 'ok'
    },
  },
  {
    name: 'defers',
    execute(_args: unknown, exec: Parameters<ToolDefinition['execute']>[1]) {
      exec.deferContext(createUserMessage({ content: [text(`about ${exec.callId}`)], source: { kind: 'plugin', plugin: 'worker' } }))
      return 'ok'
    },
  },
  {
    name: 'fails',
    execute() {
      throw new Error('no luck')
    },
  },
].map((tool) => defineTool({ description: tool.name, parameters: {}, ...tool, execute: leavingEffect(tool.execute) }))
const names = [...tools.map(({ name }) => name), 'nobody']

/** Whole, also when the pipe is full of what nobody has read yet. */
function report(line: string): void {
  for (let rest: Uint8Array = Buffer.from(line); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (full) {
      if ((full as NodeJS.ErrnoException).code !== 'EAGAIN') throw full
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

const ctx = new Context()
ctx.on('session/event', (_session, event) => report(`${JSON.stringify(event)}\n`))
await ctx.plugin(LlmRuntime)
await ctx.plugin(SessionStore, { directory, durable: durability === 'durable' })
await ctx.plugin(ToolRuntime)
ctx.llm.registerAdapter(['busy'], new Busy())
for (const tool of tools) ctx.tools.register(tool)

await once(process.stdin, 'data')
await ctx.plugin(AgentLoop, { agents: [{ id: 'a', provider: 'busy', model: 'busy' }] })
const agent = ctx.agentLoop.get(SessionId('a'))
if (agent === undefined) throw new Error('there is no agent')
for (let sent = 0; ; sent++) {
  switch (pick(8)) {
    case 0:
      agent.inject(message(`aside ${sent}`))
      break
    case 1:
      agent.steer(message(`rather ${sent}`))
      break
    case 2:
      agent.cancel({ kind: 'worker' }, { keepInbox: pick(2) === 0 })
      break
    default:
      agent.followup(message(`go ${sent}`))
  }
  if (pick(3) === 0) await agent.whenIdle()
  else await sleep(pick(4))
}
