import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { AgentLoop } from '@loopguard/agent-loop'
import Jobs, { type JobRequest } from '@loopguard/jobs'
import { LlmRuntime, SessionId } from '@loopguard/llm'
import { SessionStore } from '@loopguard/session'
import { ToolRuntime } from '@loopguard/tools'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { jobsHost, story, turns, Work } from './support.ts'

const thrownBy = (work: () => unknown): { readonly code?: string; readonly message?: string } => {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  return {}
}

describe('the id of a job', () => {
  it('is its kind and a number, counted for each session and kind', async () => {
    const harness = await jobsHost()
    const [a, b] = [harness.agent(), harness.agent()]
    const ids = [
      new Work(harness, a),
      new Work(harness, a, { kind: 'subagent' }),
      new Work(harness, a),
      new Work(harness, b),
      new Work(harness, a, { kind: 'test-2' }),
      new Work(harness, a),
    ].map(({ id }) => id)
    expect(ids).toEqual(['test-1', 'subagent-1', 'test-2', 'test-1', 'test-2-1', 'test-3'])
  })

  it('is told to the work, stands in the log before the work starts, and with its end after it has', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    let seen: string[] = []
    const run = vi.fn<JobRequest['run']>(() => {
      seen = story(agent)
      return { cancel() {}, done: Promise.resolve({ status: 'failed' }) }
    })
    const id = harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run })
    expect(run.mock.calls).toEqual([[{ id }]])
    expect(seen).toEqual(['start test-1'])
    expect(story(agent)).toEqual(['start test-1'])
    await turns()
    expect(story(agent).slice(0, 2)).toEqual(['start test-1', 'over test-1 failed'])
    expect(agent.session.events.filter(({ type }) => type.startsWith('job/')).map(({ data }) => data)).toEqual([
      { id, kind: 'test', label: 'x' },
      { id, status: 'failed' },
    ])
  })

  it('goes on over a restart, and an old one is JOB_UNKNOWN and says why', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'loopguard-jobs-test-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const host = async () => {
      const ctx = new Context()
      await ctx.plugin(LlmRuntime)
      await ctx.plugin(SessionStore, { directory })
      await ctx.plugin(ToolRuntime)
      await ctx.plugin(AgentLoop)
      await ctx.plugin(Jobs)
      return ctx
    }
    const options = { provider: 'p', model: 'm' }
    const first = await host()
    const agent = first.agentLoop.create(SessionId('a'), options)
    new Work({ ctx: first }, agent)
    new Work({ ctx: first }, agent)
    await first.fiber.dispose()
    const second = await host()
    onTestFinished(() => second.fiber.dispose())
    const resumed = await second.agentLoop.resume(SessionId('a'), options)
    expect(thrownBy(() => second.jobs.read(resumed, 'test-1'))).toMatchObject({
      code: 'JOB_UNKNOWN',
      message: 'job "test-1" was started before a restart: it is gone, and so is its output',
    })
    expect(new Work({ ctx: second }, resumed).id).toBe('test-3')
  })
})

describe('a label', () => {
  it.each([
    ['plain', 'plain'],
    [' two\n\tlines\u2028 and\u0007 more ', 'two lines and more'],
    ['😀'.repeat(200), '😀'.repeat(200)],
    ['😀'.repeat(201), `${'😀'.repeat(199)}…`],
    ['x'.repeat(10_000), `${'x'.repeat(199)}…`],
  ])('%j is one line of at most 200 code points', async (label, shown) => {
    const harness = await jobsHost()
    const agent = harness.agent()
    new Work(harness, agent, { label })
    expect(harness.ctx.jobs.list(agent)).toEqual([{ id: 'test-1', kind: 'test', label: shown, status: 'running' }])
  })
})

describe('a job that cannot be', () => {
  const run = (): never => {
    throw new Error('never called')
  }
  it.each([
    [{ kind: 'Bash' }, '`kind` must be small letters, digits and dashes, got "Bash"'],
    [{ kind: '' }, '`kind` must be'],
    [{ kind: 'a b' }, '`kind` must be'],
    [{ label: 5 }, '`label` must be text, got 5'],
    [{ run: 5 }, '`run` must be a function, got 5'],
    [{ owner: undefined }, 'a job needs an owner, an agent with a session; got undefined'],
    [{ owner: { id: 'a' } }, 'a job needs an owner'],
  ])('%j is refused, and leaves no trace', async (fault, words) => {
    const harness = await jobsHost()
    const owner = harness.agent()
    const error = thrownBy(() => harness.ctx.jobs.start({ kind: 'test', label: 'x', owner, run, ...fault } as never))
    expect([error.code, error.message]).toEqual(['BAD_JOB', expect.stringContaining(words)])
    expect(story(owner)).toEqual([])
  })

  it('that does not start has failed: its starter is told, and nobody else', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const failing = () => harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run })
    expect(failing).toThrow('never called')
    expect(thrownBy(() => harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run: () => ({}) as never })).code).toBe(
      'BAD_JOB',
    )
    await turns()
    expect(story(agent)).toEqual(['start test-1', 'over test-1 failed', 'start test-2', 'over test-2 failed'])
    expect([harness.ctx.jobs.running(), agent.status, agent.inbox.hasPending]).toEqual([[], 'idle', false])
  })

  it('is an eleventh: nothing of it is started; one that ends makes room', async () => {
    const harness = await jobsHost({ jobs: { maxConcurrentJobsPerOwner: 2 } })
    const [agent, other] = [harness.agent(), harness.agent()]
    const [first] = [new Work(harness, agent), new Work(harness, agent)]
    const started = vi.fn<() => never>()
    const error = thrownBy(() => harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run: started }))
    expect([error.code, error.message]).toEqual(['JOB_LIMIT', expect.stringContaining('2 jobs run already')])
    expect(started).not.toHaveBeenCalled()
    expect(story(agent)).toEqual(['start test-1', 'start test-2'])
    expect(new Work(harness, other).id).toBe('test-1')
    await first?.end()
    expect(new Work(harness, agent).id).toBe('test-3')
  })

  it('counts as running while it stops', async () => {
    const harness = await jobsHost({ jobs: { maxConcurrentJobsPerOwner: 1 } })
    const agent = harness.agent()
    let settle = (): void => {}
    const done = new Promise<{ status: 'killed' }>((resolve) => (settle = () => resolve({ status: 'killed' })))
    const id = harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run: () => ({ cancel() {}, done }) })
    expect(harness.ctx.jobs.kill(agent, id).status).toBe('stopping')
    expect(thrownBy(() => new Work(harness, agent)).code).toBe('JOB_LIMIT')
    settle()
    await turns()
    expect(new Work(harness, agent).id).toBe('test-2')
  })

  it('ends with what is no end: it has failed, and says so', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const work = [new Work(harness, agent), new Work(harness, agent)]
    await work[0]?.end({ status: 'done' } as never)
    await work[1]?.end(Promise.reject(new Error('broken')))
    expect(harness.ctx.jobs.list(agent).map(({ status, detail }) => [status, detail])).toEqual([
      ['failed', 'it ended with the status "done"'],
      ['failed', 'broken'],
    ])
  })
})
