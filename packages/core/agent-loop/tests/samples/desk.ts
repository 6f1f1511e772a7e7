import type { Context } from '@deepseek-ai/cordis'
import type {} from '@loopguard/agent-loop'
import { createUserMessage, text } from '@loopguard/llm'

export const name = 'desk'

/** Lets nothing in after hours, tells the model the date with each turn, and asks once whether it is done. */
export function apply(ctx: Context, { today, isOpen }: { today: () => string; isOpen: () => boolean }): void {
  const note = (words: string) => createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: name } })
  ctx.on('agent/pre-step', async ({ step }, next) => {
    if (!isOpen()) return { kind: 'reject' }
    const decision = await next()
    if (decision.kind === 'reject' || step > 1) return decision
    return { kind: 'enter', messages: [note(`Today is ${today()}.`), ...decision.messages] }
  })

  const asked = new WeakSet<object>()
  ctx.on('agent/turn-stopping', ({ agent }) => {
    if (asked.has(agent)) return
    asked.add(agent)
    agent.steer(note('Is that all that was asked?'))
  })
}
