import { randomUUID } from 'node:crypto'
import { Context, Service } from '@deepseek-ai/cordis'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as timeoutPolicy from '@loopguard/timeout-policy'

/** `ctx.tools.get(name, agent)`: timeout-policy reads `timeoutMs` of what it returns. */
class Tools extends Service {
  tools = new Map()

  constructor(ctx) {
    super(ctx, 'tools')
  }

  get(name) {
    return this.tools.get(name)
  }
}

const failed = (message, info) => ({ isError: true, content: [{ type: 'text', text: `Error: ${message}` }], error: { message, info } })

/** One call: three waterfalls around the body. `exec.signal` is read late, since wrappers replace it. */
async function call(ctx, { agent, name, args, signal }) {
  const exec = { callId: randomUUID(), token: Symbol(name), name, arguments: args, agent, signal }
  const body = async () => {
    try {
      return { isError: false, content: [{ type: 'text', text: await ctx.tools.get(name).run(args, exec.signal) }] }
    } catch (error) {
      return failed(error.message)
    }
  }
  const gate = await ctx.waterfall('tools/pre-execute', exec, async () => ({ kind: 'allow' }))
  const result = gate.kind === 'allow' ? await ctx.waterfall('tools/execute', exec, body) : failed(gate.reason)
  const decision = await ctx.waterfall('tools/post-execute', exec, result, async () => ({ kind: 'accept' }))
  if (decision.kind === 'block') return { ...failed(''), content: decision.feedback, additionalContexts: decision.additionalContexts }
  return { ...result, content: decision.content ?? result.content, additionalContexts: decision.additionalContexts }
}

const ctx = new Context()
await ctx.plugin(Tools)
await ctx.plugin(timeoutPolicy)
await ctx.plugin(repeatToolReminder)

ctx.tools.tools.set('hang', {
  timeoutMs: 20,
  run: (_args, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})

// The loop: messages that open a step pass `agent/pre-step`, and contexts are read after all results of a step.
const agent = {}
const messages = [{ id: randomUUID(), role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }]
await ctx.waterfall('agent/pre-step', { agent, messages }, async () => ({ kind: 'enter', messages }))
for (let step = 1; step <= 3; step++) {
  const { content, additionalContexts = [] } = await call(ctx, { agent, name: 'hang', args: {}, signal: new AbortController().signal })
  for (const block of [...content, ...additionalContexts.flatMap((message) => message.content)]) console.log(block.text)
}
