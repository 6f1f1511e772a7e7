// What the reminder costs a request in the loops of other people: a list of messages of that many calls, of which every eighth is another.
import { createRequire } from 'node:module'
import { repeatToolReminder as forAiSdk } from '../../packages/adapter/guards-ai-sdk/lib/index.js'
import { repeatToolReminder as forLangChain } from '../../packages/adapter/guards-langchain/lib/index.js'
import { repeatToolReminder as forOpenAi } from '../../packages/adapter/guards-openai-agents/lib/index.js'
import { nanoseconds, report, us } from '../measure.mjs'

const ofLangChain = createRequire(new URL('../../packages/adapter/guards-langchain/package.json', import.meta.url))
const { AIMessage, HumanMessage, ToolMessage } = ofLangChain('langchain')

const argsOf = (index) => ({ path: 'src/index.ts', line: index % 8 === 0 ? index : 3 })

const loops = {
  'AI SDK': {
    first: { role: 'user', content: [{ type: 'text', text: 'go' }] },
    step: (index) => [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: String(index), toolName: 'edit', input: argsOf(index) }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: String(index), toolName: 'edit', output: { type: 'text', value: 'ok' } }],
      },
    ],
    start: () => {
      const { transformParams } = forAiSdk()
      return async (prompt) => (await transformParams({ params: { prompt } })).prompt
    },
  },
  LangChain: {
    first: new HumanMessage('go'),
    step: (index) => [
      new AIMessage({ content: '', tool_calls: [{ id: String(index), name: 'edit', args: argsOf(index) }] }),
      new ToolMessage({ content: 'ok', tool_call_id: String(index) }),
    ],
    start: () => {
      const { wrapModelCall } = forLangChain()
      return async (messages) => (await wrapModelCall({ messages }, (request) => request)).messages
    },
  },
  'OpenAI Agents SDK': {
    first: { type: 'message', role: 'user', content: 'go' },
    step: (index) => [
      { type: 'function_call', callId: String(index), name: 'edit', arguments: JSON.stringify(argsOf(index)) },
      { type: 'function_call_result', callId: String(index), name: 'edit', output: { type: 'text', text: 'ok' } },
    ],
    start: () => {
      const model = forOpenAi()({ getResponse: (request) => request.input, getStreamedResponse: () => [] })
      return async (input) => model.getResponse({ input })
    },
  },
}

const rows = []
for (const [title, { first, step, start }] of Object.entries(loops)) {
  for (const calls of [1_000, 10_000]) {
    const list = [first, ...Array.from({ length: calls }, (_, index) => step(index)).flat()]
    const ns = await nanoseconds({ anew: () => start()(list) }, { rounds: 5, time: 60 })
    rows.push({ name: `${title}, ${calls.toLocaleString('en')} calls, read anew`, value: us(ns.anew) })
    const remind = start()
    let grown = list
    await remind(grown)
    const more = () => {
      grown = grown.length > list.length + 400 ? list : [...grown, ...step(1)]
      return remind(grown)
    }
    const { longer } = await nanoseconds({ longer: more }, { rounds: 5, time: 60 })
    rows.push({ name: `${title}, ${calls.toLocaleString('en')} calls, one step longer than the last, the same objects`, value: us(longer) })
  }
}
report({ title: 'The reminder in other loops, for each request', rows })
