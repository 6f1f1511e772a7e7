import * as budget from '@loopguard/budget'

export const name = 'runaway'
export const inject = ['agentLoop', 'tools']

const look = (execute) => ({ name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute })

/** A tool that ends when it is told to, and not before. */
const hang = (_args, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

/**
 * Makes an agent for each cap, named after its first limit, and sends them their messages, one after the other.
 * @param {import('@deepseek-ai/cordis').Context} ctx
 */
export async function apply(ctx, { caps }) {
  ctx.tools.register(look(() => 'Nothing new.'))
  const todo = []
  for (const cap of caps) {
    const [id] = Object.keys(cap)
    const agent = ctx.agentLoop.create(id, { provider: 'scripted', model: 'example' })
    // What is mounted through the agent is for that agent alone.
    await agent.ctx.plugin(budget, cap)
    if (id.endsWith('Ms')) agent.ctx.tools.register(look(hang))
    for (const words of ['Go.', 'Go on.']) todo.push(() => agent.followup(message(words)))
  }
  const next = () => todo.shift()?.()
  ctx.on('loopguard/ready', next)
  ctx.on('agent/status', ({ status }) => {
    if (status === 'idle') next()
  })
}

const message = (words) => ({ id: crypto.randomUUID(), role: 'user', content: [{ type: 'text', text: words }], source: { kind: 'user' } })
