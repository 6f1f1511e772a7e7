// A model that asks for two calls and then answers, and a tool whose effect is a line in a file of this process: what has happened can
// be compared with what the logs say.
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { LlmAdapter } from '@loopguard/llm'

export const name = 'fleet-agents'
export const inject = ['llm', 'tools']

const CALLS = 2
const MODEL_MS = Number(process.env.FLEET_MODEL_MS ?? 50)
const TOOL_MS = Number(process.env.FLEET_TOOL_MS ?? 20)

function note(what) {
  const file = process.env.FLEET_NOTES
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ time: Date.now(), ...what })}\n`)
}

class Scripted extends LlmAdapter {
  async *stream({ messages, signal }) {
    await sleep(MODEL_MS * (0.5 + Math.random()), undefined, { signal })
    const since = messages.findLastIndex(({ source }) => source.kind !== 'tool' && source.kind !== 'model')
    const results = messages.slice(since).filter(({ source }) => source.kind === 'tool').length
    const block =
      results < CALLS
        ? { type: 'tool-call', id: `call-${messages.length}`, name: 'effect', arguments: `{"n":${messages.length}}` }
        : { type: 'text', text: `done by ${process.pid}` }
    yield { type: 'block-start', index: 0, blockType: block.type }
    yield { type: 'block-end', index: 0, block }
    yield { type: 'finish', reason: { kind: block.type === 'text' ? 'stop' : 'tool-calls' } }
  }
}

export function apply(ctx) {
  ctx.llm.registerAdapter(['fleet'], new Scripted())
  ctx.tools.register({
    name: 'effect',
    description: 'Has an effect.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
    async execute(_args, { agent, callId, signal }) {
      // With its epoch, what an agent writes elsewhere can be fenced too.
      note({ what: 'effect', agent: agent.id, call: callId, epoch: agent.session.epoch })
      await sleep(TOOL_MS, undefined, { signal })
      return `done by ${process.pid}`
    },
  })
  ctx.on('agent/created', ({ agent }) => {
    agent.session.lost?.addEventListener('abort', () => note({ what: 'lost', agent: agent.id }), { once: true })
  })
  ctx.on('agent/error', ({ agent, error }) => note({ what: 'error', agent: agent.id, code: error?.code }))
}
