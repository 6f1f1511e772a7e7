// In place of a model for the children: what it answers depends on the conversation alone, so that they can work at the same time.
import { ScriptedModel } from '@loopguard/testkit'

export const name = 'children'

export const inject = ['llm']

const search = { name: 'search', arguments: { query: 'bridge' } }

/** @param {import('@deepseek-ai/cordis').Context} ctx */
export function apply(ctx) {
  ctx.llm.registerAdapter(['children'], { stream: (request) => new ScriptedModel([answerTo(request)]).stream(request) })
}

/** One child is content with what it finds; the other one searches three times for the same. */
function answerTo({ messages, sessionId }) {
  const asksForYear = messages[0].content[0].text.includes('year')
  const results = messages.filter(({ source }) => source.kind === 'tool').length
  if (results < (asksForYear ? 1 : 3)) return { calls: [{ id: `${sessionId}-${results + 1}`, ...search }] }
  return { text: asksForYear ? 'The bridge was built in 1888.' : 'The archive does not say who built it.' }
}
