import { type ContentBlock as Given, RequestError } from '@agentclientprotocol/sdk'
import { type ContentBlock, text } from '@loopguard/llm'

/** What a client sent, as blocks for the model. @throws RequestError for a kind of content that models are not shown here, and for none. */
export function contentOf(prompt: readonly Given[]): ContentBlock[] {
  if (prompt.length === 0) throw RequestError.invalidParams({ prompt }, 'the prompt is empty')
  return prompt.map((block, index) => text(wordsOf(block, index)))
}

function wordsOf(block: Given, index: number): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource_link':
      return `[${block.title ?? block.name}](${block.uri})`
    case 'resource':
      if ('text' in block.resource) return `<resource uri=${JSON.stringify(block.resource.uri)}>\n${block.resource.text}\n</resource>`
      throw refused(index, 'a resource of bytes')
    default:
      throw refused(index, block.type)
  }
}

function refused(index: number, what: string): RequestError {
  return RequestError.invalidParams({ index }, `prompt[${index}]: ${what} is not supported, only text, links and text resources`)
}
