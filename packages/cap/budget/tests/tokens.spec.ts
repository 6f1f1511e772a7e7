import { type Message as LogMessage, Logger, type Context } from '@deepseek-ai/cordis'
import type { StreamChunk } from '@loopguard/llm'
import { describe, expect, it } from 'vitest'
import { ends, forEver, looks, reached, restless, stage } from './stage.ts'

const usage = (inputTokens: number, outputTokens: number): { usage: { inputTokens: number; outputTokens: number } } => ({
  usage: { inputTokens, outputTokens },
})

/** What is logged at the level of warnings. */
function warnings(ctx: Context): string[] {
  const said: string[] = []
  const exporter = {
    colors: false as const,
    levels: { default: 3 },
    export(message: LogMessage): void {
      if (message.type === 'warn') said.push(`${message.name}: ${Logger.format(exporter, message)}`)
    },
  }
  ctx.logger.exporter(exporter)
  return said
}

describe('maxTokensPerTurn', () => {
  it('counts input and output as reported: the step after they are used up is not entered', async () => {
    const { agent1, model, say } = await stage({ maxTokensPerTurn: 300 }, { script: forEver(restless(usage(90, 10))) })
    await say(agent1, 'go')
    expect([model.count, ends(agent1), reached(agent1)]).toEqual([3, ['blocked'], ['1.4 maxTokensPerTurn 300']])
  })

  it('one token less than the limit is one step more', async () => {
    const { agent1, model, say } = await stage({ maxTokensPerTurn: 301 }, { script: forEver(restless(usage(90, 10))) })
    await say(agent1, 'go')
    expect(model.count).toBe(4)
  })

  it('counts anew in each turn', async () => {
    const { agent1, model, say } = await stage({ maxTokensPerTurn: 200 }, { script: forEver(restless(usage(90, 10))) })
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect([model.count, reached(agent1)]).toEqual([4, ['1.3 maxTokensPerTurn 200', '2.3 maxTokensPerTurn 200']])
  })

  it('a failed attempt reports none, and an answer that was cut off reports what it has', async () => {
    const failing = { finish: { kind: 'error' as const, failure: { message: 'busy', code: 'BUSY' } }, ...usage(500, 0) }
    const { agent1, model, say, ctx } = await stage(
      { maxTokensPerAgent: 100 },
      { script: [failing, { text: 'half', finish: 'max-tokens', ...usage(60, 40) }, { text: 'never' }] },
    )
    ctx.on('agent/request-error', async () => ({ kind: 'retry' }))
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect([model.count, ends(agent1)]).toEqual([2, ['max-tokens', 'blocked']])
  })

  it.each([
    ['a half report', { inputTokens: 100 }],
    ['a report with what is no number', { inputTokens: 100, outputTokens: 'many' }],
    ['a report below zero', { inputTokens: 100, outputTokens: -50 }],
  ])('%s counts as far as it is one', async (_what, report) => {
    const chunks = (count: number): StreamChunk[] => [
      { type: 'block-start', index: 0, blockType: 'tool-call' },
      {
        type: 'block-end',
        index: 0,
        block: { type: 'tool-call', id: `call_${count}` as never, name: 'look', arguments: `{"n":${count}}` },
      },
      { type: 'usage', usage: report as never },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ]
    let count = 0
    const { agent1, model, say } = await stage(
      { maxTokensPerTurn: 300 },
      { script: Array.from({ length: 10 }, () => () => chunks(++count)), invariants: { package_blocklist: ['llm'] } },
    )
    await say(agent1, 'go')
    expect([model.count, ends(agent1)]).toEqual([3, ['blocked']])
  })
})

describe('maxTokensPerAgent', () => {
  it('counts over turns', async () => {
    const { agent1, model, say } = await stage(
      { maxTokensPerAgent: 250 },
      { script: [{ text: 'one', ...usage(90, 10) }, ...forEver(restless(usage(90, 10)))] },
    )
    await say(agent1, 'one')
    await say(agent1, 'two')
    expect([model.count, ends(agent1), reached(agent1)]).toEqual([3, ['completed', 'blocked'], ['2.3 maxTokensPerAgent 250']])
  })
})

describe('a model that reports no usage', () => {
  it('makes the limit inert, and is warned of once, by provider and key', async () => {
    const { agent1, model, say, ctx, agent } = await stage(
      { maxTokensPerTurn: 1, maxTokensPerAgent: 1 },
      { script: [looks('a'), looks('b'), { text: 'one' }, { text: 'two' }] },
    )
    const said = warnings(ctx)
    await say(agent1, 'go')
    await say(agent(), 'go')
    expect([model.count, ends(agent1)]).toEqual([4, ['completed']])
    expect(said).toEqual([
      'budget: the provider scripted reports no usage for the model scripted: its tokens do not count for `maxTokensPerTurn` and `maxTokensPerAgent`',
    ])
  })

  it('of each model of its own', async () => {
    const { say, ctx, agent, model } = await stage({ maxTokensPerTurn: 1 }, { script: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] })
    ctx.llm.registerAdapter(['100%s'], model)
    const said = warnings(ctx)
    for (const options of [{}, { model: 'other' }, { provider: '100%s' }]) await say(agent(options), 'go')
    expect(said.map((line) => line.split(':')[1])).toEqual([
      ' the provider scripted reports no usage for the model scripted',
      ' the provider scripted reports no usage for the model other',
      ' the provider 100%s reports no usage for the model scripted',
    ])
  })

  it('is no news where no limit of tokens is set, nor of an answer that was broken off', async () => {
    const { agent1, say, ctx } = await stage({ maxStepsPerTurn: 9 }, { script: [{ text: 'a' }] })
    const said = warnings(ctx)
    await say(agent1, 'go')
    expect(said).toEqual([])
    const second = await stage({ maxTokensPerTurn: 9 }, { script: [{ text: 'half of' }] })
    const more = warnings(second.ctx)
    second.ctx.on('llm/stream', (_request, next) => {
      const stream = next()
      return (async function* () {
        for await (const chunk of stream) {
          yield chunk
          if (chunk.type === 'text-delta') second.agent1.cancel()
        }
      })()
    })
    await second.say(second.agent1, 'go')
    expect(ends(second.agent1)).toEqual(['aborted {"kind":"user"}'])
    expect(second.agent1.session.events.some(({ type, data }) => type === 'assistant/message' && data.interrupted === true)).toBe(true)
    expect(more).toEqual([])
  })
})
