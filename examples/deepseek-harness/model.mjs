import { CallId, LlmAdapter } from '@deepseek-ai/dsh-llm'

export const name = 'example-model'
export const inject = ['llm']

const search = { name: 'search', arguments: { query: 'word list revision' } }
const note = { name: 'note', arguments: { text: 'nothing yet' } }

/** What the model does, request by request: it searches five times, with a note in between, then reads a page, then gives up. */
const script = [search, note, search, search, note, search, search, { name: 'read_page', arguments: { page: 12 } }, 'I cannot tell.']

class ScriptedModel extends LlmAdapter {
  #next = 0

  resolveModel(provider, model) {
    return Promise.resolve({ provider, id: model, name: model })
  }

  async *stream() {
    const turn = this.#next++
    const answer = script[turn]
    const block =
      typeof answer === 'string'
        ? { type: 'text', text: answer }
        : { type: 'tool-call', id: CallId(`call-${turn}`), name: answer.name, arguments: JSON.stringify(answer.arguments) }
    yield { type: 'block-start', index: 0, blockType: block.type }
    yield block.type === 'text'
      ? { type: 'text-delta', index: 0, text: block.text }
      : { type: 'tool-call-delta', index: 0, id: block.id, name: block.name, argumentsDelta: block.arguments }
    yield { type: 'block-end', index: 0, block }
    yield { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }
    yield { type: 'finish', reason: { kind: block.type === 'text' ? 'stop' : 'tool-calls' } }
  }
}

/** @param {import('@deepseek-ai/cordis').Context} ctx */
export function apply(ctx) {
  ctx.llm.registerAdapter(['scripted'], new ScriptedModel())
}
