import { describe, expect, it } from 'vitest'
import { gate } from '@loopguard/testkit'
import type { Workflow } from '@loopguard/workflow'
import { codeOr, ids, logsOf, stage, upTo } from './support.ts'

const fanOut =
  (count: number) =>
  ({ agent }: Workflow) =>
    Promise.all(upTo(count).map((n) => codeOr(agent({ prompt: String(n) }).then(({ text }) => text))))

describe('maxTotalAgents', () => {
  it('5, and a fan-out of 8: five children, three AGENT_CAP', async () => {
    const { harness, parent } = await stage()
    const logs = logsOf(harness)
    const outcomes = await harness.ctx.workflow.run({ parent, maxTotalAgents: 5 }, fanOut(8))
    expect(outcomes).toEqual(['did 1', 'did 2', 'did 3', 'did 4', 'did 5', 'AGENT_CAP', 'AGENT_CAP', 'AGENT_CAP'])
    expect([...logs.keys()]).toHaveLength(5)
  })

  it('counts starts that fail: five attempts, three AGENT_CAP, and no child', async () => {
    const { harness, parent } = await stage({ invariants: false })
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      const [, event] = args as [unknown, { readonly type: string } | undefined]
      if (name === 'session/event' && event?.type === 'subagent/start') throw Object.assign(new Error('no'), { code: 'NO_ROOM' })
    })
    const outcomes = await harness.ctx.workflow.run({ parent, maxTotalAgents: 5 }, fanOut(8))
    expect(outcomes).toEqual([...upTo(5).map(() => 'NO_ROOM'), 'AGENT_CAP', 'AGENT_CAP', 'AGENT_CAP'])
    expect(ids(harness)).toEqual(['main'])
  })

  it('counts one after another as it counts those at once, and a task that cannot be', async () => {
    const { harness, parent } = await stage({ config: { maxTotalAgents: 3 } })
    const outcomes: unknown[] = []
    await harness.ctx.workflow.run({ parent }, async ({ agent }) => {
      for (const prompt of ['a', '', 'b', 'c']) outcomes.push(await codeOr(agent({ prompt }).then(({ text }) => text)))
    })
    expect(outcomes).toEqual(['did a', 'BAD_SUBAGENT', 'did b', 'AGENT_CAP'])
  })

  it('says which limit it was', async () => {
    const { harness, parent } = await stage()
    const running = harness.ctx.workflow.run({ parent, maxTotalAgents: 1 }, async ({ agent }) => {
      await agent({ prompt: 'a' })
      await agent({ prompt: 'b' })
    })
    await expect(running).rejects.toMatchObject({
      code: 'AGENT_CAP',
      message: 'limit reached: 1 agents in this run (workflow.maxTotalAgents)',
    })
  })

  it('is each run’s own: two at a time of one parent do not share it', async () => {
    const { harness, parent } = await stage()
    const run = () => harness.ctx.workflow.run({ parent, maxTotalAgents: 2 }, fanOut(3))
    for (const outcomes of await Promise.all([run(), run()])) expect(outcomes).toEqual(['did 1', 'did 2', 'AGENT_CAP'])
  })
})

describe('a program that catches AGENT_CAP and goes on', () => {
  it('is cancelled after ten, and what still works with it', async () => {
    const { harness, model, parent } = await stage()
    const working = gate()
    model.answer = (prompt) => (prompt === 'long' ? (working.open(), 'hang') : {})
    const caught: (string | undefined)[] = []
    let long: Promise<unknown> | undefined
    const running = harness.ctx.workflow.run({ parent, maxTotalAgents: 2 }, async ({ agent }) => {
      long = agent({ prompt: 'long' })
      await working.opened
      for (;;) {
        try {
          await agent({ prompt: 'more' })
        } catch (error) {
          caught.push((error as { readonly code?: string }).code)
        }
      }
    })
    await expect(running).rejects.toMatchObject({
      code: 'WORKFLOW_CANCELLED',
      message: 'workflow: cancelled, since it went on after 10 agents were refused',
      cause: { code: 'AGENT_CAP' },
    })
    expect(caught.slice(0, 11)).toEqual([...upTo(10).map(() => 'AGENT_CAP'), 'WORKFLOW_CANCELLED'])
    expect(caught.length).toBeLessThanOrEqual(20)
    await expect(long).resolves.toMatchObject({ reason: { kind: 'aborted', reason: { kind: 'parent' } } })
    expect(ids(harness)).toEqual(['main'])
  })

  it('nine times is not', async () => {
    const { harness, parent } = await stage()
    const outcomes = await harness.ctx.workflow.run({ parent, maxTotalAgents: 1 }, fanOut(10))
    expect(outcomes.filter((outcome) => outcome === 'AGENT_CAP')).toHaveLength(9)
  })

  it('and stops when it is told to, has the time to do so', async () => {
    const { harness, parent } = await stage()
    const done: string[] = []
    const running = harness.ctx.workflow.run({ parent, maxTotalAgents: 1 }, async ({ agent, signal }) => {
      while (!signal.aborted) await codeOr(agent({ prompt: 'a' }))
      await new Promise((resolve) => setImmediate(resolve))
      done.push('tidied up')
    })
    await expect(running).rejects.toMatchObject({ code: 'WORKFLOW_CANCELLED' })
    expect(done).toEqual(['tidied up'])
  })
})

describe('a run inside a run', () => {
  it('counts against the outer one too: started by its program', async () => {
    const { harness, parent } = await stage()
    const { workflow } = harness.ctx
    const outcomes = await workflow.run({ parent, maxTotalAgents: 4 }, async ({ agent }) => {
      const own = await codeOr(agent({ prompt: 'outer' }).then(({ text }) => text))
      const inner = await workflow.run({ parent, maxTotalAgents: 3 }, fanOut(2))
      const other = await workflow.run({ parent }, fanOut(2))
      return [own, inner, other]
    })
    expect(outcomes).toEqual(['did outer', ['did 1', 'did 2'], ['did 1', 'AGENT_CAP']])
  })

  it('has its own limit, which comes first when it is lower', async () => {
    const { harness, parent } = await stage()
    const { workflow } = harness.ctx
    const outcomes = await workflow.run({ parent, maxTotalAgents: 5 }, async ({ agent }) => {
      const inner = await workflow.run({ parent, maxTotalAgents: 1 }, fanOut(3))
      return [inner, await Promise.all(upTo(5).map((n) => codeOr(agent({ prompt: String(n) }).then(({ text }) => text))))]
    })
    expect(outcomes).toEqual([
      ['did 1', 'AGENT_CAP', 'AGENT_CAP'],
      ['did 1', 'did 2', 'did 3', 'did 4', 'AGENT_CAP'],
    ])
  })

  it('counts against the outer one too: started by a tool of an agent of it, or of one below that', async () => {
    const { harness, model, parent } = await stage()
    const { workflow } = harness.ctx
    const inner: unknown[] = []
    model.answer = (prompt) => {
      if (prompt === 'fan out') return { calls: [{ name: 'fan', arguments: {} }] }
      return prompt === 'delegate'
        ? { calls: [{ name: 'subagent', arguments: { description: 'd', prompt: 'fan out' } }] }
        : { text: `did ${prompt}` }
    }
    harness.ctx.tools.register({
      name: 'fan',
      description: '',
      parameters: {},
      execute: async (_args, { agent, signal }) => {
        inner.push(await workflow.run({ parent: harness.ctx.agentLoop.get(agent!.id)!, signal }, fanOut(2)))
        return 'ok'
      },
    })
    const outcomes = await workflow.run({ parent, maxTotalAgents: 5 }, async ({ agent }) => {
      await agent({ prompt: 'fan out' })
      await agent({ prompt: 'delegate' })
      return codeOr(agent({ prompt: 'last' }))
    })
    expect([inner, outcomes]).toEqual([
      [
        ['did 1', 'did 2'],
        ['did 1', 'AGENT_CAP'],
      ],
      'AGENT_CAP',
    ])
  })

  it('cancels the outer one when it goes on after ten refusals of the outer’s', async () => {
    const { harness, parent } = await stage()
    const { workflow } = harness.ctx
    const running = workflow.run({ parent, maxTotalAgents: 1 }, async () => {
      for (;;) await codeOr(workflow.run({ parent }, fanOut(2)))
    })
    await expect(running).rejects.toMatchObject({ code: 'WORKFLOW_CANCELLED' })
  }, 10_000)

  it('ends with the outer one', async () => {
    const { harness, model, parent } = await stage()
    const { workflow } = harness.ctx
    const working = gate()
    model.answer = () => (working.open(), 'hang')
    let inner: Promise<unknown> | undefined
    await workflow.run({ parent }, async () => {
      inner = codeOr(workflow.run({ parent }, ({ agent }) => agent({ prompt: 'a' })))
      await working.opened
    })
    expect(ids(harness)).toEqual(['main'])
    await expect(inner).resolves.toBe('WORKFLOW_OVER')
  })

  it('is none when it is another agent’s, nor when the outer one is over', async () => {
    const { harness, parent } = await stage()
    const other = harness.agent({ id: 'other' })
    const { workflow } = harness.ctx
    let later: (() => Promise<unknown>) | undefined
    await workflow.run({ parent, maxTotalAgents: 1 }, async ({ agent }) => {
      await agent({ prompt: 'a' })
      expect(await workflow.run({ parent: other }, fanOut(2))).toEqual(['did 1', 'did 2'])
      const { promise, resolve } = Promise.withResolvers<void>()
      const inScope = promise.then(() => workflow.run({ parent }, fanOut(2)))
      later = () => (resolve(), inScope)
    })
    expect(await later!()).toEqual(['did 1', 'did 2'])
  })
})

describe('maxDepth', () => {
  it('holds for the agents of a run too, and a refused one counts', async () => {
    const { harness, parent } = await stage({ subagents: { maxDepth: 1 } })
    const { workflow } = harness.ctx
    const child = harness.ctx.subagents.start({ parent, prompt: 'a' })
    const outcomes = await workflow.run({ parent: child.agent, maxTotalAgents: 1 }, fanOut(2))
    expect(outcomes).toEqual(['SUBAGENT_DEPTH', 'AGENT_CAP'])
    await child.done
  })
})
