import type { Agent } from '@loopguard/agent-loop'
import { LlmAdapter, type LlmRequest, type Message, type StreamChunk } from '@loopguard/llm'
import * as ralph from '@loopguard/ralph'
import * as reminder from '@loopguard/repeat-tool-reminder'
import type { SessionEvent } from '@loopguard/session'
import Subagents, { type Config as SubagentConfig } from '@loopguard/subagent'
import { createHarness, gate, type Harness, ScriptedModel, type ScriptedReply, userMessage } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'

/** Plays the parent, which calls ralph once, and each child by its number. */
class Rounds extends LlmAdapter {
  readonly requests: LlmRequest[] = []
  readonly children: (readonly (ScriptedReply | (() => Promise<ScriptedReply>))[])[]
  private readonly args: object
  private readonly asked = new Map<string, number>()

  constructor(args: object, ...children: Rounds['children']) {
    super()
    this.args = args
    this.children = children
  }

  async *stream(request: LlmRequest): AsyncGenerator<StreamChunk, void, undefined> {
    this.requests.push(request)
    const at = this.asked.get(request.sessionId) ?? 0
    this.asked.set(request.sessionId, at + 1)
    const mine =
      request.sessionId === 'main'
        ? [{ calls: [{ name: 'ralph', arguments: this.args }] }]
        : this.children[Number(request.sessionId.split('.')[1]) - 1]
    const reply = mine?.[at] ?? { text: 'nothing more' }
    yield* new ScriptedModel([typeof reply === 'function' ? await reply() : reply]).stream(request)
  }

  /** What each child was asked first. */
  get prompts(): string[] {
    return this.requests
      .filter(({ sessionId, messages }) => sessionId !== 'main' && messages.length === 1)
      .map(({ messages }) => wordsOf(messages[0]!.content))
  }
}

const wordsOf = (content: Message['content']): string =>
  content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')

const reports = (status: string, summary: string, more: object = {}) => ({
  calls: [{ name: 'report', arguments: { status, summary, evidence: [], nextSteps: [], ...more } }],
})

interface Options {
  readonly config?: Partial<ralph.Config>
  readonly subagents?: Partial<SubagentConfig>
}

async function stage(
  adapter: Rounds,
  { config, subagents }: Options = {},
): Promise<{ harness: Harness; parent: Agent; logs: Map<string, readonly SessionEvent[]> }> {
  const harness = await createHarness({
    adapter,
    plugins: [reminder, [Subagents, subagents], [ralph, config]],
    tools: [{ name: 'look', description: '', parameters: {}, execute: () => 'seen' }],
  })
  onTestFinished(() => harness.dispose())
  const logs = new Map<string, readonly SessionEvent[]>()
  harness.ctx.on('session/event', (session) => void logs.set(session.id, session.events))
  return { harness, parent: harness.agent({ id: 'main' }), logs }
}

/** The result of the call, as the model reads it. */
async function ask(adapter: Rounds, options: Options = {}): Promise<{ text: string; code?: string | undefined; children: string[] }> {
  const { harness, parent, logs } = await stage(adapter, options)
  await harness.say(parent, 'go')
  return { ...resultIn(parent), children: [...logs.keys()].filter((id) => id !== 'main') }
}

function resultIn({ session }: Agent): { text: string; code?: string | undefined } {
  const result = session.events.find((event): event is SessionEvent<'tool/result'> => event.type === 'tool/result')!
  return { text: wordsOf(result.data.message.content[0].content), ...(result.data.error && { code: result.data.error.code }) }
}

describe('ralph', () => {
  it('makes a fresh child each round, which gets nothing but the report of the one before', async () => {
    const adapter = new Rounds(
      { objective: 'Fix the tests.' },
      [
        { text: 'A long story.', calls: [{ name: 'look', arguments: {} }] },
        reports('continue', 'one of two fixed', { evidence: ['1 passed'], nextSteps: ['fix b'] }),
      ],
      [reports('complete', 'both fixed', { evidence: ['2 passed'] })],
    )
    const { harness, parent, logs } = await stage(adapter)
    await harness.say(parent, 'go')
    expect(resultIn(parent)).toEqual({ text: 'Complete after round 2.\n\nStatus: complete\nSummary: both fixed\nEvidence:\n- 2 passed' })
    const end =
      'Work towards the objective, and check what the report says before you rely on it. Call report as the last thing you do: the next ' +
      'round knows nothing else of yours.'
    expect(adapter.prompts).toEqual([
      `Objective:\nFix the tests.\n\nThis is round 1 of 256 at most. No round was before this one.\n\n${end}`,
      'Objective:\nFix the tests.\n\nThis is round 2 of 256 at most. The round before this one has reported:\n\n' +
        `Status: continue\nSummary: one of two fixed\nEvidence:\n- 1 passed\nNext steps:\n- fix b\n\n${end}`,
    ])
    expect([...logs.keys()]).toEqual(['main', 'main.1', 'main.2'])
    expect(logs.get('main.2')![1]).toMatchObject({ type: 'subagent/start', data: { parent: 'main', depth: 1, callId: 'call_1' } })
    expect(harness.ctx.agentLoop.list()).toEqual([parent])
  })

  it('hands over the latest report alone', async () => {
    const adapter = new Rounds({ objective: 'a' }, ...['one', 'two', 'three'].map((summary) => [reports('continue', summary)]), [
      reports('complete', 'four'),
    ])
    await ask(adapter)
    expect(adapter.prompts.map((prompt) => /Summary: (\w+)/.exec(prompt)?.[1])).toEqual([undefined, 'one', 'two', 'three'])
    expect(adapter.prompts.map((prompt) => prompt.match(/Summary/g)?.length ?? 0)).toEqual([0, 1, 1, 1])
  })

  it('with maxRounds 2 and work that goes on: two children, and the text says that work remains', async () => {
    const more = [reports('continue', 'not yet')]
    const result = await ask(new Rounds({ objective: 'a', maxRounds: 2 }, more, more, more))
    expect(result).toEqual({
      text: 'Stopped by maxRounds (2): work remains.\n\nStatus: continue\nSummary: not yet',
      children: ['main.1', 'main.2'],
    })
  })

  it('ends when a round is blocked, and says by what', async () => {
    const result = await ask(new Rounds({ objective: 'a' }, [reports('blocked', 'no key', { blocker: 'the key is missing' })]))
    expect(result).toEqual({
      text: 'Blocked in round 1: work remains.\n\nStatus: blocked\nBlocker: the key is missing\nSummary: no key',
      children: ['main.1'],
    })
  })

  it('above the ceiling is refused, not clamped; so are no rounds, and an objective that says nothing', async () => {
    const options = { config: { maxRounds: 3 } }
    expect(await ask(new Rounds({ objective: 'a', maxRounds: 4 }), options)).toEqual({
      code: 'BAD_RALPH',
      text: 'Error: maxRounds must be an integer from 1 to 3, got 4',
      children: [],
    })
    for (const args of [{ objective: 'a', maxRounds: 0 }, { objective: ' ' }, { objective: 'a', rounds: 2 }]) {
      expect(await ask(new Rounds(args), options)).toMatchObject({ code: 'INVALID_ARGS', children: [] })
    }
  })

  it('stops at the ceiling when nothing is said', async () => {
    const result = await ask(new Rounds({ objective: 'a' }, ...Array.from({ length: 4 }, () => [reports('continue', 'more')])), {
      config: { maxRounds: 3 },
    })
    expect(result.text).toMatch(/^Stopped by maxRounds \(3\): work remains\.\n\nStatus: continue/)
    expect(result.children).toEqual(['main.1', 'main.2', 'main.3'])
  })
})

describe('a round that fails ends it with an error that holds the last hand-off', () => {
  const first = [reports('continue', 'half done')]
  const handoff = 'the last hand-off:\n\nStatus: continue\nSummary: half done'

  it('ended without a report', async () => {
    expect(await ask(new Rounds({ objective: 'a' }, first, [{ text: 'I forgot.' }]))).toEqual({
      code: 'RALPH_FAILED',
      text: `Error: round 2 failed: it ended without a report, completed; ${handoff}`,
      children: ['main.1', 'main.2'],
    })
  })

  it('ended with an error, in the first round', async () => {
    const failing = [{ finish: { kind: 'error' as const, failure: { message: 'no more', code: 'QUOTA' } } }]
    expect(await ask(new Rounds({ objective: 'a' }, failing))).toMatchObject({
      code: 'RALPH_FAILED',
      text: 'Error: round 1 failed: it ended without a report, error QUOTA: no more; no round has reported yet',
    })
  })

  it('was cancelled after its report', async () => {
    const adapter = new Rounds({ objective: 'a' }, first, [reports('complete', 'all done')])
    const { harness, parent } = await stage(adapter)
    harness.ctx.on('agent/turn-stopping', ({ agent }) => {
      if (agent.id === 'main.2') agent.cancel()
    })
    await harness.say(parent, 'go')
    expect(resultIn(parent)).toEqual({ code: 'RALPH_FAILED', text: `Error: round 2 failed: it ended aborted (user); ${handoff}` })
  })

  it('could not begin', async () => {
    const adapter = new Rounds({ objective: 'a' }, first)
    const { harness, parent } = await stage(adapter)
    harness.ctx.on('session/event', (session, { type }) => {
      if (session.id === 'main.2' && type === 'subagent/start') session.close()
    })
    await harness.say(parent, 'go')
    expect(resultIn(parent)).toMatchObject({
      code: 'RALPH_FAILED',
      text: expect.stringMatching(/^Error: round 2 could not begin: session "main.2" is closed.*the last hand-off:/s) as string,
    })
  })

  it('could not begin, the first: the error is its own', async () => {
    const { harness, parent, logs } = await stage(new Rounds({ objective: 'a' }), { subagents: { maxDepth: 1 } })
    const child = parent.ctx.agentLoop.create('child' as Agent['id'], { provider: 'scripted', model: 'm' })
    const { signal } = new AbortController()
    const result = await harness.ctx.tools.execute({
      callId: 'c' as never,
      name: 'ralph',
      arguments: { objective: 'a' },
      agent: child,
      signal,
    })
    expect(result).toMatchObject({ error: { info: { code: 'SUBAGENT_DEPTH' } } })
    expect([...logs.keys()]).toEqual(['main', 'child'])
  })
})

describe('cancelling the parent', () => {
  it('ends the round; the result says so and holds the last hand-off; no child is left', async () => {
    const working = gate()
    const hang = async (): Promise<'hang'> => (working.open(), 'hang')
    const adapter = new Rounds({ objective: 'a' }, [reports('continue', 'half done')], [hang])
    const { harness, parent, logs } = await stage(adapter)
    parent.followup(userMessage('go'))
    await working.opened
    parent.cancel()
    await parent.whenIdle()
    expect(resultIn(parent)).toEqual({
      code: 'ABORTED',
      text: 'Error: cancelled in round 2; the last hand-off:\n\nStatus: continue\nSummary: half done',
    })
    expect(harness.ctx.agentLoop.list()).toEqual([parent])
    expect([...logs.keys()]).toEqual(['main', 'main.1', 'main.2'])
  })
})

describe('report', () => {
  it('concludes the round: the model is not asked again', async () => {
    const adapter = new Rounds({ objective: 'a' }, [reports('complete', 'done'), { text: 'never asked' }])
    await ask(adapter)
    expect(adapter.requests.filter(({ sessionId }) => sessionId === 'main.1')).toHaveLength(1)
  })

  it('too long for a hand-off is refused, and may be shortened; one that just fits is taken', async () => {
    // `Status: complete`, a line break and `Summary: ` take 26 characters.
    const adapter = new Rounds({ objective: 'a' }, [reports('complete', 'x'.repeat(75)), reports('complete', 'x'.repeat(74))])
    const { harness, parent, logs } = await stage(adapter, { config: { maxHandoffChars: 100 } })
    await harness.say(parent, 'go')
    const results = logs
      .get('main.1')!
      .flatMap(({ type, data }) => (type === 'tool/result' ? [wordsOf(data.message.content[0].content)] : []))
    expect(results).toEqual(['Error: the report has 101 characters, at most 100 are handed over: shorten it', 'reported'])
    expect(resultIn(parent).text).toContain(`Summary: ${'x'.repeat(74)}`)
  })

  it('of a blocked round says by what; a second one in the same message does not count', async () => {
    const both = { calls: [...reports('continue', 'first').calls, ...reports('complete', 'second').calls] }
    const adapter = new Rounds({ objective: 'a', maxRounds: 1 }, [reports('blocked', 'b'), reports('blocked', 'b', { blocker: ' ' }), both])
    const { harness, parent, logs } = await stage(adapter)
    await harness.say(parent, 'go')
    const codes = logs.get('main.1')!.flatMap(({ type, data }) => (type === 'tool/result' ? [data.error?.code] : []))
    expect(codes).toEqual(['BAD_REPORT', 'BAD_REPORT', undefined, 'BAD_REPORT'])
    expect(resultIn(parent).text).toContain('Summary: first')
  })

  it('is there for the rounds alone, also where a filter keeps nothing', async () => {
    const adapter = new Rounds({ objective: 'a' }, [reports('complete', 'done')])
    const { harness, parent } = await stage(adapter, { subagents: { toolFilter: { allow: [] } } })
    await harness.say(parent, 'go')
    const offered = adapter.requests.map(({ sessionId, tools = [] }) => [sessionId, tools.map(({ name }) => name)])
    expect(offered[0]).toEqual(['main', ['subagent', 'ralph', 'look']])
    expect(offered[1]).toEqual(['main.1', ['report']])
    expect(resultIn(parent).text).toMatch(/^Complete/)
  })
})

describe('the plugin', () => {
  it.each([{ maxRounds: 0 }, { maxHandoffChars: 0 }, { maxHandoffChars: 1.5 }, { maxround: 3 }])(
    'refuses the configuration %j',
    async (config) => {
      await expect(createHarness({ plugins: [Subagents, [ralph, config]] })).rejects.toThrow(/maxRounds|maxHandoffChars|maxround/)
    },
  )

  it('takes its tool away with it, and goes with sub-agents; a call without an agent of the loop is refused', async () => {
    const harness = await createHarness()
    const subagents = harness.ctx.plugin(Subagents)
    await subagents
    await harness.ctx.plugin(ralph)
    const names = (): string[] => harness.ctx.tools.schemas().map(({ name }) => name)
    expect(names()).toEqual(['subagent', 'ralph'])
    const { signal } = new AbortController()
    const result = await harness.ctx.tools.execute({ callId: 'c' as never, name: 'ralph', arguments: { objective: 'a' }, signal })
    expect(result).toMatchObject({ error: { info: { code: 'BAD_RALPH' } } })
    await subagents.dispose()
    await new Promise((resolve) => setImmediate(resolve))
    expect(names()).toEqual([])
    await harness.dispose()
  })
})
