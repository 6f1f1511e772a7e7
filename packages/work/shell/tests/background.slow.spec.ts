import type { Agent } from '@loopguard/agent-loop'
import Jobs, { type Config as JobsConfig } from '@loopguard/jobs'
import * as jobsInvariant from '@loopguard/jobs/invariant'
import * as jobsTools from '@loopguard/jobs/tools'
import Shell, { type Config as ShellConfig } from '@loopguard/shell'
import * as bash from '@loopguard/shell/bash'
import { createHarness, type Harness, type HarnessOptions, type HarnessPlugin, userMessage } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bashHost, call, GRACE_MS, longSleep, running, textOf, until } from './support.ts'

interface Options extends HarnessOptions {
  readonly jobs?: Partial<JobsConfig>
  readonly shell?: Partial<ShellConfig>
}

async function host({ jobs, plugins = [], ...options }: Options = {}): Promise<Harness> {
  const mine: HarnessPlugin[] = [[Jobs, jobs], jobsInvariant, jobsTools]
  return bashHost({ ...options, plugins: [...mine, ...plugins] })
}

const background = (command: string, more: object = {}) => ({
  command,
  description: `a test: ${command.slice(0, 20)}`,
  run_in_background: true,
  ...more,
})
const start = async (harness: Harness, agent: Agent, command: string, more: object = {}): Promise<string> =>
  textOf(await call(harness.ctx, 'bash', background(command, more), { agent }))
const output = async (harness: Harness, agent: Agent, args: object = {}): Promise<string> =>
  textOf(await call(harness.ctx, 'job_output', { job_id: 'bash-1', ...args }, { agent }))

describe('bash in the background', () => {
  it('answers at once with the id of a job, whose label is the description', async () => {
    const harness = await host()
    const agent = harness.agent()
    const begun = performance.now()
    expect(await start(harness, agent, 'sleep 30', { description: 'waits\nhalf a minute' })).toBe('started background job bash-1')
    // 200 ms are promised; a busy machine may take more.
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(harness.ctx.jobs.list(agent)).toEqual([{ id: 'bash-1', kind: 'bash', label: 'waits half a minute', status: 'running' }])
  })

  it('has no timeout, and the signal of its call has no hold on it', async () => {
    const harness = await host({ shell: { timeoutMs: 100, maxTimeoutMs: 100 }, plugins: [timeoutPolicy] })
    const agent = harness.agent()
    const controller = new AbortController()
    const { signal } = controller
    await call(harness.ctx, 'bash', background('sleep 0.4; echo late', { timeoutMs: 50 }), { agent, signal })
    controller.abort()
    expect(await output(harness, agent, { wait: true, timeout_ms: 60_000 })).toBe('late\n[status: completed, exit code: 0]')
  })

  it('three reads of it are disjoint and complete, and a code that is not 0 is an end like any', async () => {
    const harness = await host()
    const agent = harness.agent()
    await start(harness, agent, 'echo one; sleep 0.3; echo two >&2; sleep 0.3; echo three; exit 4')
    const pieces: string[] = []
    for (;;) {
      const text = await output(harness, agent)
      pieces.push(text)
      if (!text.endsWith('[status: running]')) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const printed = pieces.map((piece) =>
      piece
        .split('\n')
        .slice(0, -1)
        .filter((line) => line !== '(no new output)'),
    )
    expect(printed.flat()).toEqual(['one', 'two', 'three'])
    expect(pieces.at(-1)).toMatch(/\[status: completed, exit code: 4\]$/)
  })

  it('that a signal of somebody else ends has failed', async () => {
    const harness = await host()
    const agent = harness.agent()
    await start(harness, agent, 'kill -SEGV $$')
    expect(await output(harness, agent, { wait: true })).toBe('(no new output)\n[status: failed, signal: SIGSEGV]')
  })

  it('that is killed ends with its group, and says by what', async () => {
    const harness = await host()
    const agent = harness.agent()
    const sleep = longSleep()
    await start(harness, agent, `trap '' TERM; ${sleep} & ${sleep}`)
    await until(() => running(sleep) === 2, 'both run')
    expect(textOf(await call(harness.ctx, 'job_kill', { job_id: 'bash-1' }, { agent }))).toBe(
      'job bash-1 was asked to end\n[status: stopping]',
    )
    expect(await output(harness, agent, { wait: true })).toBe('(no new output)\n[status: killed, signal: SIGKILL]')
    expect(running(sleep)).toBe(0)
  })

  it('whose output is long gives its end, at most maxOutputBytes, and names the file', async () => {
    const harness = await host({ shell: { maxOutputBytes: 10 } })
    const agent = harness.agent()
    await start(harness, agent, 'seq 1 100')
    expect(await output(harness, agent, { wait: true })).toMatch(
      /^98\n99\n100\n\[output truncated; full output: \/.+\/1\.output\]\n\[status: completed, exit code: 0\]$/,
    )
  })

  it('that waits for 200 ms comes back, and the job lives', async () => {
    const harness = await host({ plugins: [timeoutPolicy] })
    const agent = harness.agent()
    await start(harness, agent, 'sleep 30')
    const begun = performance.now()
    expect(await output(harness, agent, { wait: true, timeout_ms: 200 })).toBe('(no new output)\n[status: running]')
    expect(performance.now() - begun).toBeGreaterThanOrEqual(198)
    expect(harness.ctx.jobs.list(agent)).toMatchObject([{ status: 'running' }])
  })

  it('is refused as in the foreground, and is no job then', async () => {
    const harness = await host()
    const agent = harness.agent()
    expect(await start(harness, agent, 'true', { workdir: '/nowhere' })).toContain('"/nowhere" does not exist')
    expect(await start(harness, agent, ' ')).toContain('`command` is empty')
    expect(await start(harness, agent, `: ${'x'.repeat(3_000_000)}`)).toContain('bash could not be started')
    expect(textOf(await call(harness.ctx, 'bash', background('true')))).toContain('a job needs an owner')
    expect(harness.ctx.jobs.list(agent).map(({ status }) => status)).toEqual(['failed'])
  })

  it('an eleventh is refused, and nothing is spawned', async () => {
    const harness = await host({ jobs: { maxConcurrentJobsPerOwner: 2 } })
    const agent = harness.agent()
    await start(harness, agent, 'sleep 30')
    await start(harness, agent, 'sleep 30')
    const spawned = vi.fn<() => void>()
    harness.ctx.on('shell/spawn', spawned)
    const result = await call(harness.ctx, 'bash', background('sleep 30'), { agent })
    expect(result.isError && result.error.info?.code).toBe('JOB_LIMIT')
    expect(spawned).not.toHaveBeenCalled()
  })
})

describe('nothing outlives its owner', () => {
  it('an agent that is disposed of takes its jobs along, and waits until they are gone', async () => {
    const harness = await host()
    const agent = harness.agent()
    const sleep = longSleep()
    await start(harness, agent, `trap '' TERM; ${sleep} & ${sleep}`)
    await until(() => running(sleep) === 2, 'both run')
    const { events } = agent.session
    await agent.dispose()
    expect(running(sleep)).toBe(0)
    expect(events.filter(({ type }) => type.startsWith('job/')).map(({ data }) => data)).toEqual([
      { id: 'bash-1', kind: 'bash', label: expect.any(String) },
      { id: 'bash-1', status: 'killed' },
    ])
  })

  it('unloading the shell ends its jobs, and their owners are told', async () => {
    const harness = await createHarness({ script: [{ text: 'ok' }] })
    onTestFinished(() => harness.dispose())
    await harness.ctx.plugin(Jobs)
    await harness.ctx.plugin(jobsTools)
    const service = await harness.ctx.plugin(Shell, { graceMs: GRACE_MS })
    await harness.ctx.plugin(bash)
    const agent = harness.agent()
    const sleep = longSleep()
    await start(harness, agent, sleep)
    await until(() => running(sleep) === 1, 'it runs')
    await service.dispose()
    expect(running(sleep)).toBe(0)
    await agent.whenIdle()
    expect(textOf(harness.model.requests[0]?.messages[0] as never)).toContain('has ended with the status killed, signal: SIGTERM')
  })

  it('a cancel of the agent leaves its jobs running', async () => {
    const sleep = longSleep()
    const harness = await host({ script: [{ calls: [{ name: 'bash', arguments: background(sleep) }] }, 'hang'] })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await until(() => running(sleep) === 1, 'it runs')
    agent.cancel()
    await agent.whenIdle()
    expect([running(sleep), harness.ctx.jobs.list(agent)[0]?.status]).toEqual([1, 'running'])
  })
})

describe('bash and ctx.jobs', () => {
  it('come and go apart: run_in_background is there while the service is', async () => {
    const harness = await bashHost()
    const offers = (): boolean => JSON.stringify(harness.ctx.tools.schemas()).includes('run_in_background')
    expect(offers()).toBe(false)
    const service = await harness.ctx.plugin(Jobs)
    await until(offers, 'it is offered')
    await service.dispose()
    expect([offers(), harness.ctx.tools.schemas().map(({ name }) => name)]).toEqual([false, ['bash']])
    await harness.ctx.plugin(Jobs)
    await until(offers, 'it is offered again')
    expect(harness.ctx.tools.schemas()[0]?.description).toContain('With run_in_background')
  })
})
