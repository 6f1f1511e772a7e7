import { Context } from '@deepseek-ai/cordis'
import { CallId } from '@loopguard/llm'
import ToolRuntime, { defineTool } from '@loopguard/tools'

const add = defineTool<{ readonly a: number; readonly b: number }>({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  execute: ({ a, b }) => String(a + b),
})

export async function hello(args: unknown): Promise<string> {
  const ctx = new Context()
  await ctx.plugin(ToolRuntime)
  ctx.tools.register(add)
  const { signal } = new AbortController()
  const { content } = await ctx.tools.execute({ callId: CallId('call-1'), name: 'add', arguments: args, signal })
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join()
}
