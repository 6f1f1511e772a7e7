import * as jobsTools from '@loopguard/jobs/tools'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import { gate, userMessage } from '@loopguard/testkit'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { describe, expect, it } from 'vitest'
import { call, jobsHost, makes, story, textOf, turns, Work } from './support.ts'

describe('what the model reads of job_output', () => {
  it('is what is new, then the status; three reads are disjoint and complete', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const work = new Work(harness, agent)
    const read = async (): Promise<string> => textOf(await call(harness, 'job_output', { job_id: 'test-1' }, { agent }))
    work.print('one\ntw')
    expect(await read()).toBe('one\ntw\n[status: running]')
    work.print('o\nthree\n')
    expect(await read()).toBe('o\nthree\n[status: running]')
    expect(await read()).toBe('(no new output)\n[status: running]')
    work.print('four')
    await work.end()
    expect(await read()).toBe('four\n[status: completed, exit code: 0]')
    expect(await read()).toMatch(/^Error: job "test-1" has ended and is kept no longer/)
  })

  it.each([
    [{ status: 'completed' as const }, '[status: completed]'],
    [{ status: 'failed' as const, detail: 'signal: SIGSEGV' }, '[status: failed, signal: SIGSEGV]'],
    [{ status: 'killed' as const, detail: 'signal: SIGTERM' }, '[status: killed, signal: SIGTERM]'],
  ])('after the end %j ends with %s', async (end, line) => {
    const harness = await jobsHost()
    const agent = harness.agent()
    await new Work(harness, agent).end(end)
    expect(textOf(await call(harness, 'job_output', { job_id: 'test-1' }, { agent }))).toBe(`(no new output)\n${line}`)
  })

  it('has the note of a piece that is not whole before the status', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const readOutput = () => ({ text: 'tail\n', end: 5, note: '[output truncated; full output: /tmp/x]' })
    let cancel = (): void => {}
    const done = new Promise<{ status: 'killed' }>((resolve) => (cancel = () => resolve({ status: 'killed' })))
    harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run: () => ({ cancel: () => cancel(), done, readOutput }) })
    expect(textOf(await call(harness, 'job_output', { job_id: 'test-1' }, { agent }))).toBe(
      'tail\n[output truncated; full output: /tmp/x]\n[status: running]',
    )
  })

  it('with wait comes at the end of the job, or when the wait runs out: that is no failure, also with timeout-policy', async () => {
    const harness = await jobsHost({ jobTools: { waitTimeoutMs: 50 }, plugins: [timeoutPolicy] })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    const start = performance.now()
    const result = await call(harness, 'job_output', { job_id: 'test-1', wait: true, timeout_ms: 200 }, { agent })
    expect(performance.now() - start).toBeGreaterThanOrEqual(198)
    expect([result.isError, textOf(result)]).toEqual([false, '(no new output)\n[status: running]'])
    expect(textOf(await call(harness, 'job_output', { job_id: 'test-1', wait: true }, { agent }))).toContain('[status: running]')
    expect(work.cancelled).toEqual([])
    const waiting = call(harness, 'job_output', { job_id: 'test-1', wait: true, timeout_ms: 60_000 }, { agent })
    await turns()
    work.print('done')
    await work.end()
    expect(textOf(await waiting)).toBe('done\n[status: completed, exit code: 0]')
    for (const tool of ['job_output', 'job_list', 'job_kill']) expect(harness.ctx.tools.get(tool)?.timeoutMs).toBeUndefined()
  })

  it('waits no longer than maxWaitTimeoutMs', async () => {
    const harness = await jobsHost({ jobTools: { maxWaitTimeoutMs: 30 } })
    const agent = harness.agent()
    new Work(harness, agent)
    expect(textOf(await call(harness, 'job_output', { job_id: 'test-1', wait: true, timeout_ms: 1e9 }, { agent }))).toContain(
      '[status: running]',
    )
  })

  it('with equal arguments is reminded at 3, as any call', async () => {
    const poll = ['job_output', { job_id: 'test-1' }] as const
    const harness = await jobsHost({ script: [makes(poll), makes(poll), makes(poll), { text: 'done' }], plugins: [repeatToolReminder] })
    const agent = harness.agent()
    new Work(harness, agent)
    await harness.say(agent, 'go')
    const contexts = agent.session.events.filter(({ type, data }) => type === 'user/message' && data.source.kind === 'plugin')
    expect(contexts.map(({ data }) => (data as { source: object }).source)).toEqual([{ kind: 'plugin', plugin: 'repeat-tool-reminder' }])
  })
})

describe('what the model reads of job_list and job_kill', () => {
  it('is a line a job', async () => {
    const harness = await jobsHost()
    const [agent, other] = [harness.agent(), harness.agent()]
    const list = async (): Promise<string> => textOf(await call(harness, 'job_list', {}, { agent }))
    expect(await list()).toBe('(no jobs)')
    new Work(harness, other, { label: 'not mine' })
    const [one] = [new Work(harness, agent, { label: 'npm run build' }), new Work(harness, agent, { kind: 'subagent', label: 'look' })]
    await one?.end()
    expect(await list()).toBe('test-1 [completed, exit code: 0] npm run build\nsubagent-1 [running] look')
  })

  it('is that the job was asked to end, at once; the reason reaches the job', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const reasons: (string | undefined)[] = []
    let settle = (): void => {}
    const done = new Promise<{ status: 'killed' }>((resolve) => (settle = () => resolve({ status: 'killed' })))
    const run = () => ({ cancel: (reason?: string) => void reasons.push(reason), done })
    harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run })
    const kill = async (): Promise<string> => textOf(await call(harness, 'job_kill', { job_id: 'test-1', reason: 'too slow' }, { agent }))
    expect(await kill()).toBe('job test-1 was asked to end\n[status: stopping]')
    expect(await kill()).toBe('job test-1 was asked to end\n[status: stopping]')
    expect(reasons).toEqual(['too slow'])
    settle()
    await turns()
    expect(await kill()).toBe('job test-1 had ended already\n[status: killed]')
  })
})

describe('bad input', () => {
  it.each([
    ['job_output', { job_id: 'test-9' }, 'JOB_UNKNOWN', 'there is no job "test-9"; this session has test-1'],
    ['job_kill', { job_id: 'test-9' }, 'JOB_UNKNOWN', 'there is no job "test-9"'],
    ['job_output', { job_id: 'test-9', wait: true }, 'JOB_UNKNOWN', 'there is no job "test-9"'],
    ['job_output', { job_id: 'test-2' }, 'JOB_FOREIGN', 'job "test-2" belongs to another session'],
    ['job_output', { job_id: '' }, 'INVALID_ARGS', 'arguments.job_id'],
    ['job_output', {}, 'INVALID_ARGS', 'must have the property "job_id"'],
    ['job_output', { job_id: 'test-1', timeout_ms: 'soon' }, 'INVALID_ARGS', 'arguments.timeout_ms must be number, got the text "soon"'],
    ['job_output', { job_id: 'test-1', timeout_ms: 0 }, 'INVALID_ARGS', 'arguments.timeout_ms must be > 0, got 0'],
    ['job_list', { all: true }, 'INVALID_ARGS', 'must not have the property "all"'],
  ])('%s %j is refused, and says why', async (tool, args, code, words) => {
    const harness = await jobsHost()
    const [agent, other] = [harness.agent(), harness.agent()]
    new Work(harness, agent)
    new Work(harness, other)
    new Work(harness, other)
    const result = await call(harness, tool, args, { agent })
    expect(result.isError && result.error.info?.code).toBe(code)
    expect(textOf(result)).toContain(words)
  })

  it('a call without an agent is refused', async () => {
    const harness = await jobsHost()
    for (const [tool, args] of [
      ['job_output', { job_id: 'a-1' }],
      ['job_list', {}],
      ['job_kill', { job_id: 'a-1' }],
    ] as const) {
      const result = await call(harness, tool, args)
      expect(result.isError && result.error.info?.code).toBe('BAD_JOB')
    }
  })
})

describe('a call that is cancelled while it waits', () => {
  it('is ABORTED; the job lives, nothing was read, and its end is told later', async () => {
    const harness = await jobsHost({
      script: [makes(['job_output', { job_id: 'test-1', wait: true }]), makes(['job_output', { job_id: 'test-1' }]), { text: 'done' }],
    })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    work.print('early')
    const waits = gate()
    harness.ctx.on('session/event', (_, { type }) => type === 'tool/call' && waits.open())
    agent.followup(userMessage('go'))
    await waits.opened
    agent.cancel()
    await agent.whenIdle()
    expect(work.cancelled).toEqual([])
    await work.end()
    await agent.whenIdle()
    expect(story(agent)).toEqual([
      'start test-1',
      'user: go',
      'call: job_output {"job_id":"test-1","wait":true}',
      'result ABORTED: Error: tool call aborted',
      'end: aborted',
      'over test-1 completed',
      'told: test-1 completed, exit code: 0',
      'call: job_output {"job_id":"test-1"}',
      'result: early\n[status: completed, exit code: 0]',
      'model: done',
      'end: completed',
    ])
  })

  it('by a signal that a wrapper put in is ABORTED too', async () => {
    const harness = await jobsHost()
    harness.ctx.on('tools/execute', async (exec, next) => {
      exec.signal = AbortSignal.timeout(20)
      return next()
    })
    const agent = harness.agent()
    new Work(harness, agent)
    const result = await call(harness, 'job_output', { job_id: 'test-1', wait: true }, { agent })
    expect(result).toMatchObject({ isError: true, error: { info: { name: 'AbortError', code: 'ABORTED' } } })
  })
})

describe('output counts as read when the result that holds it stands in the log', () => {
  it('so what a block or a fault kept from the model comes again', async () => {
    const poll = makes(['job_output', { job_id: 'test-1' }])
    const harness = await jobsHost({ script: [poll, poll, poll, { text: 'done' }] })
    let times = 0
    harness.ctx.on('tools/post-execute', async (_exec, _result, next) => {
      times++
      if (times === 1) return { kind: 'block', feedback: [{ type: 'text', text: 'no' }] }
      if (times === 2) throw new Error('broken')
      return next()
    })
    const agent = harness.agent()
    new Work(harness, agent).print('once')
    await harness.say(agent, 'go')
    expect(story(agent).filter((line) => line.startsWith('result'))).toEqual([
      'result BLOCKED: no',
      'result: Error: broken',
      'result: once\n[status: running]',
    ])
  })

  it('or at once, for a call that no log holds', async () => {
    const harness = await jobsHost({ script: [makes(['outer', {}]), { text: 'done' }] })
    const seen: string[] = []
    harness.ctx.tools.register({
      name: 'outer',
      description: '',
      parameters: {},
      async execute(_, { agent, signal, token, callId }) {
        for (let time = 0; time < 2; time++) {
          const input = { callId, name: 'job_output', arguments: { job_id: 'test-1' }, agent, signal, parent: token }
          seen.push(textOf(await harness.ctx.tools.execute({ ...input, callId: `${callId}-${time}` as never })))
        }
        return 'ok'
      },
    })
    const agent = harness.agent()
    new Work(harness, agent).print('once')
    await harness.say(agent, 'go')
    expect(seen).toEqual(['once\n[status: running]', '(no new output)\n[status: running]'])
  })
})

describe('the plugin', () => {
  it('takes its tools away with it', async () => {
    const harness = await jobsHost()
    const names = (): string[] => harness.ctx.tools.schemas().map(({ name }) => name)
    expect(names()).toEqual(['job_output', 'job_list', 'job_kill'])
    expect(harness.ctx.tools.schemas()[0]?.description).toContain('30000 unless you say otherwise, 600000 at most')
  })

  it.each([
    [{ waitTimeoutMs: 0 }, 'waitTimeoutMs'],
    [{ maxWaitTimeoutMs: 'long' }, 'maxWaitTimeoutMs'],
    [{ maxConsecutiveWakes: -1 }, 'maxConsecutiveWakes'],
    [{ maxConsecutiveWake: 1 }, 'jobs/tools: unknown key `maxConsecutiveWake`, did you mean `maxConsecutiveWakes`?'],
  ])('refuses the configuration %j and names the key', async (config, words) => {
    const { ctx } = await jobsHost()
    await expect(Promise.resolve(ctx.plugin(jobsTools, config as never))).rejects.toThrow(words)
  })
})
