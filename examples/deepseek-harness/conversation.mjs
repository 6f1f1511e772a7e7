import { createUserMessage } from '@deepseek-ai/dsh-llm'

export const name = 'example-conversation'
export const inject = ['loader', 'agents']

const textOf = (content) => content.map((block) => block.text ?? textOf(block.content ?? [])).join('')

/**
 * Says one thing to each agent and prints what its log then says.
 * @param {import('@deepseek-ai/cordis').Context} ctx
 */
export function apply(ctx) {
  ctx.on('session/event', (_session, { type, data }) => {
    if (type === 'tool/call') console.log(`call     ${data.name} ${data.arguments}`)
    if (type === 'tool/result') console.log(`result   ${textOf(data.message.content)}`)
    if (type === 'user/message') console.log(`${data.source.kind === 'plugin' ? 'reminder' : 'user    '} ${textOf(data.content)}`)
    if (type === 'assistant/message' && textOf(data.message.content) !== '') console.log(`model    ${textOf(data.message.content)}`)
    if (type === 'turn/end') console.log(`end      ${data.reason.kind}`)
  })
  // Rows start side by side: a message that is sent before all of them are there reaches an agent without guards.
  void ctx.loader.await().then(() => {
    for (const agent of ctx.agents.list()) {
      const content = [{ type: 'text', text: 'When was the word list last revised?' }]
      agent.followup(createUserMessage({ content, source: { kind: 'user' } }))
    }
  })
}
