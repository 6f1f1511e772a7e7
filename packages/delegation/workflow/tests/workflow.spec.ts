import { createHarness, gate } from '@loopguard/testkit'
import Subagents from '@loopguard/subagent'
import Workflows, { type AgentOutcome, type Workflow } from '@loopguard/workflow'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Answering, codeOr, ids, logsOf, stage, turns, upTo } from './support.ts'

describe('a run', () => {
  it('resolves with what its program returns; each agent is a child that is gone when its promise settles', async () => {
    const { harness, model, parent } = await stage()
    const logs = logsOf(harness)
    const text = await harness.ctx.workflow.run({ parent, callId: 'c1' as never }, async ({ agent }) => {
      const first = await agent({ prompt: 'a' })
      expect(ids(harness)).toEqual(['main'])
      return `${first.text}, ${(await agent({ prompt: 'b', system: 'Be short.', model: 'small' })).text}`
    })
    expect(text).toBe('did a, did b')
    expect(model.asked).toEqual(['a', 'b'])
    expect(logs.get('main.2')![1]).toMatchObject({ type: 'subagent/start', data: { parent: 'main', depth: 1, callId: 'c1' } })
    expect(logs.get('main.2')!.find(({ type }) => type === 'request/header')?.data).toMatchObject({ system: 'Be short.', model: 'small' })
  })

  it('gives each outcome with the reason: an agent that failed is no rejection', async () => {
    const { harness, model, parent } = await stage()
    model.answer = (prompt) =>
      prompt === 'a' ? { text: 'cut', finish: 'max-tokens' } : { finish: { kind: 'error', failure: { message: 'no', code: 'QUOTA' } } }
    const outcomes = await harness.ctx.workflow.run({ parent }, ({ agent }) =>
      Promise.all([agent({ prompt: 'a' }), agent({ prompt: 'b' })]),
    )
    expect(outcomes).toEqual([
      { text: 'cut', reason: { kind: 'max-tokens' } },
      { text: '', reason: { kind: 'error', error: { message: 'no', code: 'QUOTA' } } },
    ])
  })

  it('rejects with what its program throws, once the agents that it left are gone', async () => {
    const { harness, model, parent } = await stage()
    const working = gate()
    model.answer = () => (working.open(), 'hang')
    const running = harness.ctx.workflow.run({ parent }, async ({ agent }) => {
      void agent({ prompt: 'a' })
      await working.opened
      throw new Error('enough')
    })
    await expect(running).rejects.toThrow('enough')
    expect(ids(harness)).toEqual(['main'])
    await expect(
      harness.ctx.workflow.run({ parent }, () => {
        throw new Error('at once')
      }),
    ).rejects.toThrow('at once')
  })

  it('cancels what its program leaves running, and waits for it', async () => {
    const { harness, model, parent } = await stage()
    const logs = logsOf(harness)
    const working = gate()
    model.answer = () => (working.open(), 'hang')
    let outcome: Promise<AgentOutcome> | undefined
    const value = await harness.ctx.workflow.run({ parent, maxConcurrentAgents: 1 }, async ({ agent }) => {
      outcome = agent({ prompt: 'a' })
      void agent({ prompt: 'waits for a slot' })
      await working.opened
      return 7
    })
    expect([value, ids(harness), [...logs.keys()]]).toEqual([7, ['main'], ['main.1']])
    await expect(outcome).resolves.toMatchObject({ text: '', reason: { kind: 'aborted', reason: { kind: 'parent' } } })
  })

  it('lets a filter of tools through to its agent, and leaves out what it does not know', async () => {
    const { harness, model, parent } = await stage()
    const offered: (readonly string[])[] = []
    model.answer = (_prompt, { tools = [] }) => (offered.push(tools.map(({ name }) => name)), {})
    await harness.ctx.workflow.run({ parent }, async ({ agent }) => {
      await agent({ prompt: 'a' })
      await agent({ prompt: 'a', toolFilter: { deny: ['*'] }, tools: [{ name: 'mine' }] } as never)
    })
    expect(offered).toEqual([['subagent'], []])
  })
})

describe('maxConcurrentAgents', () => {
  it('lets so many work at once; the others follow in order, each when one is done', async () => {
    const { harness, model, parent } = await stage({ config: { maxConcurrentAgents: 3 } })
    const most: number[] = []
    model.answer = async (prompt) => {
      most.push(harness.ctx.subagents.list().length)
      await turns()
      return { text: prompt }
    }
    const prompts = upTo(9).map(String)
    const outcomes = await harness.ctx.workflow.run({ parent }, ({ agent }) => Promise.all(prompts.map((prompt) => agent({ prompt }))))
    expect(outcomes.map(({ text }) => text)).toEqual(prompts)
    expect(model.asked).toEqual(prompts)
    expect(Math.max(...most)).toBe(3)
  })

  it('may be less for one run, and a start that fails gives its slot back', async () => {
    const { harness, model, parent } = await stage()
    let atOnce = 0
    model.answer = async () => {
      expect(++atOnce).toBe(1)
      await turns()
      atOnce--
      return {}
    }
    const outcomes = await harness.ctx.workflow.run({ parent, maxConcurrentAgents: 1 }, ({ agent }) =>
      Promise.all([agent({ prompt: '' }), agent({ prompt: 'a' }), agent({ prompt: 'b' })].map(codeOr)),
    )
    expect(outcomes).toMatchObject(['BAD_SUBAGENT', { reason: { kind: 'completed' } }, { reason: { kind: 'completed' } }])
  })
})

describe('cancelling a run', () => {
  it('ends its agents with their parent’s cause, refuses those that wait, and rejects with the signal’s reason', async () => {
    const { harness, model, parent } = await stage()
    const working = gate()
    let count = 0
    model.answer = () => (++count === 3 && working.open(), 'hang')
    const controller = new AbortController()
    let outcomes: unknown[] = []
    const running = harness.ctx.workflow.run({ parent, signal: controller.signal, maxConcurrentAgents: 3 }, async ({ agent, signal }) => {
      outcomes = await Promise.all(upTo(4).map((n) => codeOr(agent({ prompt: String(n) }))))
      expect(signal.aborted).toBe(true)
      return 'I did not look at the signal'
    })
    await working.opened
    const reason = Object.assign(new Error('stop'), { code: 'STOP' })
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
    expect(outcomes).toMatchObject([...upTo(3).map(() => ({ reason: { reason: { kind: 'parent' } } })), 'STOP'])
    expect(ids(harness)).toEqual(['main'])
  })

  it('before it starts: the program is not run', async () => {
    const { harness, parent } = await stage()
    const program = vi.fn<() => void>()
    await expect(harness.ctx.workflow.run({ parent, signal: AbortSignal.abort(new Error('no')) }, program)).rejects.toThrow('no')
    expect(program).not.toHaveBeenCalled()
  })

  it('comes with the cancel of a parent whose tool runs it: three running agents are gone, and all logs are whole', async () => {
    const { harness, model, parent } = await stage()
    const logs = logsOf(harness)
    const working = gate()
    let count = 0
    model.answer = (prompt) => {
      if (prompt === 'go') return { calls: [{ name: 'fan', arguments: {} }] }
      if (++count === 3) working.open()
      return 'hang'
    }
    harness.ctx.tools.register({
      name: 'fan',
      description: '',
      parameters: {},
      execute: (_args, { signal, callId }) =>
        harness.ctx.workflow.run({ parent, signal, callId }, async ({ agent }) => {
          await Promise.all(upTo(3).map((n) => agent({ prompt: String(n) })))
          return 'done'
        }),
    })
    const said = harness.say(parent, 'go')
    await working.opened
    parent.cancel()
    await said
    expect(ids(harness)).toEqual(['main'])
    for (const [id, events] of logs) {
      expect(events.findLast(({ type }) => type === 'turn/end')?.data).toMatchObject({
        reason: { kind: 'aborted', reason: { kind: id === 'main' ? 'user' : 'parent' } },
      })
    }
  })

  it('leaves nothing on the signal, however the run ended', async () => {
    const { harness, parent } = await stage()
    const { signal } = new AbortController()
    let listeners = 0
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
    })
    let own: AbortSignal | undefined
    await harness.ctx.workflow.run({ parent, signal }, async ({ agent, signal: inner }) => {
      own = inner
      expect(listeners).toBe(1)
      await agent({ prompt: 'a' })
    })
    await codeOr(
      harness.ctx.workflow.run({ parent, signal }, () => {
        throw new Error('no')
      }),
    )
    expect(listeners).toBe(0)
    expect(own?.aborted).toBe(true)
  })
})

describe('a run that is over', () => {
  it('makes no more agents: what its program has left behind is refused, and then left where it is', async () => {
    const { harness, parent } = await stage()
    let kept: Workflow['agent'] | undefined
    await harness.ctx.workflow.run({ parent }, ({ agent }) => void (kept = agent))
    await expect(kept!({ prompt: 'a' })).rejects.toMatchObject({ code: 'WORKFLOW_OVER' })
    let refused = 0
    // In promises alone: if it went on for ever, nothing else would ever run.
    void (async () => {
      for (;;) await kept!({ prompt: 'a' }).catch(() => refused++)
    })()
    await turns()
    await turns()
    expect(refused).toBeLessThan(20)
    expect(ids(harness)).toEqual(['main'])
  })
})

describe('unloading the plugin', () => {
  it('cancels every run and waits for its agents; nothing more is run', async () => {
    const model = new Answering()
    const harness = await createHarness({ adapter: model, plugins: [Subagents] })
    onTestFinished(() => harness.dispose())
    const plugin = harness.ctx.plugin(Workflows)
    await plugin
    const parent = harness.agent({ id: 'main' })
    const working = gate()
    model.answer = () => (working.open(), 'hang')
    const { workflow } = harness.ctx
    const running = codeOr(workflow.run({ parent }, ({ agent }) => agent({ prompt: 'a' })))
    await working.opened
    await plugin.dispose()
    expect(ids(harness)).toEqual(['main'])
    await expect(running).resolves.toBe('WORKFLOW_CLOSED')
    await expect(codeOr(workflow.run({ parent }, () => 7))).resolves.toBe('WORKFLOW_CLOSED')
  })

  it('of sub-agents ends the runs too', async () => {
    const model = new Answering()
    const harness = await createHarness({ adapter: model })
    onTestFinished(() => harness.dispose())
    const subagents = harness.ctx.plugin(Subagents)
    await subagents
    await harness.ctx.plugin(Workflows)
    const parent = harness.agent({ id: 'main' })
    const working = gate()
    model.answer = () => (working.open(), 'hang')
    const running = codeOr(harness.ctx.workflow.run({ parent }, async ({ agent }) => (await agent({ prompt: 'a' })).reason.kind))
    await working.opened
    await subagents.dispose()
    expect(['WORKFLOW_CLOSED', 'aborted']).toContain(await running)
    expect(ids(harness)).toEqual(['main'])
    await turns()
    expect(harness.ctx.get('workflow')).toBeUndefined()
  })

  it('does not wait for a program that hears nothing', async () => {
    const model = new Answering()
    const harness = await createHarness({ adapter: model, plugins: [Subagents] })
    onTestFinished(() => harness.dispose())
    const plugin = harness.ctx.plugin(Workflows)
    await plugin
    void harness.ctx.workflow.run({ parent: harness.agent() }, () => new Promise(() => {})).catch(() => {})
    await plugin.dispose()
    expect(harness.ctx.get('workflow')).toBeUndefined()
  })
})

describe('disposing of the parent', () => {
  it('ends the agents; the program hears how, and makes no more', async () => {
    const { harness, model, parent } = await stage()
    const working = gate()
    model.answer = () => (working.open(), 'hang')
    const running = harness.ctx.workflow.run({ parent }, async ({ agent }) => {
      const { reason } = await agent({ prompt: 'a' })
      return [reason, await codeOr(agent({ prompt: 'b' }))]
    })
    await working.opened
    await parent.dispose()
    await expect(running).resolves.toEqual([{ kind: 'aborted', reason: { kind: 'disposed' } }, 'SUBAGENTS_CLOSED'])
    expect(ids(harness)).toEqual([])
  })
})

describe('a request', () => {
  it.each<[string, object, string]>([
    [
      'more agents than are configured',
      { maxTotalAgents: 1001 },
      '`maxTotalAgents` must be an integer from 1 to 1000, which is what is configured; got 1001',
    ],
    ['no agents', { maxTotalAgents: 0 }, '`maxTotalAgents` must be an integer from 1 to 1000, which is what is configured; got 0'],
    [
      'more at once than are configured',
      { maxConcurrentAgents: 9 },
      '`maxConcurrentAgents` must be an integer from 1 to 8, which is what is configured; got 9',
    ],
    [
      'half an agent',
      { maxConcurrentAgents: 0.5 },
      '`maxConcurrentAgents` must be an integer from 1 to 8, which is what is configured; got 0.5',
    ],
    [
      'text for a number',
      { maxTotalAgents: '5' },
      '`maxTotalAgents` must be an integer from 1 to 1000, which is what is configured; got "5"',
    ],
    ['no parent', { parent: undefined }, '`parent` must be a living agent of the loop, got undefined'],
    ['a parent that is none', { parent: { id: 'main' } }, '`parent` must be a living agent of the loop, got "main"'],
  ])('for %s is refused before anything starts', async (_what, more, message) => {
    const { harness, parent } = await stage()
    const program = vi.fn<() => void>()
    await expect(harness.ctx.workflow.run({ parent, ...more }, program)).rejects.toMatchObject({
      code: 'BAD_WORKFLOW',
      message: `workflow: ${message}`,
    })
    expect(program).not.toHaveBeenCalled()
  })

  it('without a program is refused', async () => {
    const { harness, parent } = await stage()
    await expect(harness.ctx.workflow.run({ parent }, 'a' as never)).rejects.toMatchObject({ code: 'BAD_WORKFLOW' })
  })

  it.each([{ maxTotalAgents: 0 }, { maxConcurrentAgents: 1.5 }, { maxAgents: 5 }])('%j is no configuration', async (config) => {
    await expect(createHarness({ plugins: [Subagents, [Workflows, config]] })).rejects.toThrow(
      /maxTotalAgents|maxConcurrentAgents|maxAgents/,
    )
  })
})
