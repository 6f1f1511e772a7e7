import { Context } from '@deepseek-ai/cordis'
import Jobs from '@loopguard/jobs'
import { createHarness } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { jobsHost, story, turns, Work } from './support.ts'

const codeOf = (work: () => unknown): string | undefined => {
  try {
    work()
  } catch (error) {
    return (error as { code?: string }).code
  }
  return undefined
}

describe('only its owner sees a job', () => {
  it('and is told whether another has it, or none', async () => {
    const harness = await jobsHost()
    const { jobs } = harness.ctx
    const [a, b, c] = [harness.agent(), harness.agent(), harness.agent()]
    new Work(harness, a)
    new Work(harness, a)
    const mine = new Work(harness, b)
    mine.print('mine')
    expect(jobs.read(b, 'test-1').output).toBe('mine')
    for (const touch of [() => jobs.read(b, 'test-2'), () => jobs.look(b, 'test-2'), () => jobs.kill(b, 'test-2')]) {
      expect(touch).toThrow(expect.objectContaining({ code: 'JOB_FOREIGN', message: 'job "test-2" belongs to another session' }))
    }
    await expect(jobs.wait(b, 'test-2')).rejects.toMatchObject({ code: 'JOB_FOREIGN' })
    expect(() => jobs.read(b, 'test-9')).toThrow(
      expect.objectContaining({ code: 'JOB_UNKNOWN', message: 'there is no job "test-9"; this session has test-1' }),
    )
    expect(() => jobs.read(c, 'test-9')).toThrow('there is no job "test-9"; this session has none')
    expect([jobs.list(c), jobs.list(b).length]).toEqual([[], 1])
    expect(codeOf(() => jobs.list({} as never))).toBe('BAD_JOB')
  })
})

describe('a job that has ended', () => {
  it('is kept until it is read to the end', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const work = new Work(harness, agent)
    work.print('one')
    expect(harness.ctx.jobs.read(agent, work.id)).toMatchObject({ output: 'one', status: 'running' })
    work.print('two')
    await work.end()
    expect(harness.ctx.jobs.look(agent, work.id).reading).toMatchObject({ output: 'two', status: 'completed', detail: 'exit code: 0' })
    expect(harness.ctx.jobs.read(agent, work.id)).toMatchObject({ output: 'two' })
    expect(() => harness.ctx.jobs.read(agent, work.id)).toThrow(
      expect.objectContaining({
        code: 'JOB_UNKNOWN',
        message: expect.stringContaining('has ended and is kept no longer: it was read to its end'),
      }),
    )
    expect(harness.ctx.jobs.list(agent)).toEqual([])
  })

  it('is one of fifty at most', async () => {
    const harness = await jobsHost({ jobs: { maxConcurrentJobsPerOwner: 100 } })
    const agent = harness.agent()
    const works = Array.from({ length: 53 }, () => new Work(harness, agent))
    for (const work of works.slice(0, 52)) await work.end()
    expect(harness.ctx.jobs.list(agent).map(({ id }) => id)).toEqual(works.slice(2).map(({ id }) => id))
    expect(() => harness.ctx.jobs.read(agent, 'test-2')).toThrow('or more than 50 have ended since')
  })

  it('stays as it ended first, whatever comes later', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const work = new Work(harness, agent)
    await work.end({ status: 'failed', detail: 'first' })
    expect(harness.ctx.jobs.kill(agent, work.id)).toMatchObject({ status: 'failed', detail: 'first' })
    await work.end({ status: 'completed' })
    expect(work.cancelled).toEqual([])
    expect(harness.ctx.jobs.list(agent)).toMatchObject([{ status: 'failed', detail: 'first' }])
    expect(story(agent).filter((line) => line.startsWith('over'))).toEqual(['over test-1 failed'])
  })

  it('of a run without output to read gives what it ended with', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const done = Promise.resolve({ status: 'completed' as const, output: 'the answer' })
    const id = harness.ctx.jobs.start({ kind: 'subagent', label: 'x', owner: agent, run: () => ({ cancel() {}, done }) })
    expect(harness.ctx.jobs.read(agent, id)).toMatchObject({ output: '', status: 'running' })
    await turns()
    expect(harness.ctx.jobs.read(agent, id)).toEqual({ id, kind: 'subagent', label: 'x', status: 'completed', output: 'the answer' })
  })
})

describe('waiting', () => {
  it('is for the end, not for output', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const work = new Work(harness, agent)
    let ended = false
    const waiting = harness.ctx.jobs.wait(agent, work.id).then((job) => {
      ended = true
      return job
    })
    work.print('something')
    await turns()
    expect(ended).toBe(false)
    await work.end()
    expect(await waiting).toMatchObject({ status: 'completed' })
    expect(await harness.ctx.jobs.wait(agent, work.id)).toMatchObject({ status: 'completed' })
  })

  it('runs out without harm, refuses what is no time, and leaves nothing on its signal', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const work = new Work(harness, agent)
    const controller = new AbortController()
    const { signal } = controller
    const [add, remove] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')]
    expect(await harness.ctx.jobs.wait(agent, work.id, { timeoutMs: 20, signal })).toMatchObject({ status: 'running' })
    expect(remove.mock.calls.length).toBe(add.mock.calls.length)
    for (const timeoutMs of [0, -1, Number.NaN, '5' as never]) {
      await expect(harness.ctx.jobs.wait(agent, work.id, { timeoutMs })).rejects.toMatchObject({ code: 'TIMEOUT_OUT_OF_RANGE' })
    }
    const waiting = harness.ctx.jobs.wait(agent, work.id, { signal })
    const why = new Error('enough')
    controller.abort(why)
    await expect(waiting).rejects.toBe(why)
    await expect(harness.ctx.jobs.wait(agent, work.id, { signal })).rejects.toBe(why)
    expect([work.cancelled, harness.ctx.jobs.list(agent)[0]?.status]).toEqual([[], 'running'])
  })
})

describe('nothing outlives its owner', () => {
  it.each(['the agent', 'the service'])('disposal of %s cancels all, waits for their ends, logs them, and tells nobody', async (what) => {
    const harness = await createHarness()
    onTestFinished(() => harness.dispose())
    const service = await harness.ctx.plugin(Jobs)
    const agent = harness.agent()
    let settle = (): void => {}
    let isAsked = false
    const done = new Promise<{ status: 'killed' }>((resolve) => (settle = () => resolve({ status: 'killed' })))
    harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run: () => ({ cancel: () => (isAsked = true), done }) })
    const quick = new Work(harness, agent)
    const heard = vi.fn<() => void>()
    harness.ctx.on('jobs/end', heard)
    const { jobs } = harness.ctx
    let isGone = false
    const going = (what === 'the agent' ? agent.dispose() : service.dispose()).then(() => (isGone = true))
    await turns()
    expect([isAsked, quick.cancelled.length, isGone]).toEqual([true, 1, false])
    expect(codeOf(() => new Work({ ctx: { jobs } as never }, agent))).toBe('JOBS_CLOSED')
    settle()
    await going
    expect(story(agent)).toEqual(['start test-1', 'start test-2', 'over test-2 killed', 'over test-1 killed'])
    expect([heard.mock.calls.length, jobs.running()]).toEqual([0, []])
  })

  it('a run that throws when it is cancelled holds up no other', async () => {
    const harness = await createHarness()
    const service = await harness.ctx.plugin(Jobs)
    const agent = harness.agent()
    let settle = (): void => {}
    const done = new Promise<{ status: 'killed' }>((resolve) => (settle = () => resolve({ status: 'killed' })))
    const cancel = (): never => {
      settle()
      throw new Error('cannot')
    }
    harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run: () => ({ cancel, done }) })
    const other = new Work(harness, agent)
    await service.dispose()
    expect(other.cancelled).toEqual(['its owner is going'])
    await harness.dispose()
  })

  it('leaves no record of an owner that has gone', async () => {
    const harness = await jobsHost()
    const { jobs } = harness.ctx
    const agent = harness.agent({ id: 'a' })
    new Work(harness, agent)
    expect(jobs.running().map(({ id, owner }) => [owner, id])).toEqual([['a', 'test-1']])
    await agent.dispose()
    expect([jobs.running(), jobs.list(agent)]).toEqual([[], []])
  })
})

describe('the service', () => {
  it('says when nothing runs any more, what starts meanwhile included', async () => {
    const harness = await jobsHost({ script: [{ text: 'ok', repeat: Infinity }] })
    const agent = harness.agent()
    await harness.ctx.jobs.whenIdle()
    const first = new Work(harness, agent)
    let isIdle = false
    const idle = harness.ctx.jobs.whenIdle().then(() => (isIdle = true))
    let second: Work | undefined
    harness.ctx.on('jobs/end', () => void (second ??= new Work(harness, agent)))
    await first.end()
    expect([isIdle, second?.id]).toEqual([false, 'test-2'])
    await second?.end()
    await idle
  })

  it('waits for what counts alone, when that is asked for', async () => {
    const harness = await jobsHost({ script: [{ text: 'ok', repeat: Infinity }] })
    const agent = harness.agent({ id: 'a' })
    new Work(harness, agent)
    const child = new Work(harness, agent, { kind: 'subagent' })
    const asked: string[] = []
    const idle = harness.ctx.jobs.whenIdle(({ kind, owner }) => {
      asked.push(`${owner} ${kind}`)
      return kind === 'subagent'
    })
    await child.end()
    await idle
    expect(asked).toEqual(['a test', 'a subagent', 'a test'])
    expect(harness.ctx.jobs.running()).toHaveLength(1)
  })

  it('an end that cannot be logged is reported, and is an end', async () => {
    const harness = await jobsHost({ invariants: false })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      if (name === 'session/event' && (args[1] as { type?: string }).type === 'job/end') throw new Error('full')
    })
    await work.end()
    expect(harness.ctx.jobs.list(agent)[0]?.status).toBe('completed')
    expect(harness.log.map(({ text }) => text)).toEqual([`the end of job test-1 of ${agent.id} could not be logged: full`])
  })

  it('refuses a configuration that it does not understand, and names the key', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    for (const config of [{ maxConcurrentJobsPerOwner: 0 }, { maxConcurrentJobsPerOwner: '5' }, { maxConcurrentJob: 5 }]) {
      await expect(Promise.resolve(ctx.plugin(Jobs, config as never))).rejects.toThrow('maxConcurrentJobsPerOwner')
    }
  })
})
