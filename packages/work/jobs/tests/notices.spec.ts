import type { Agent } from '@loopguard/agent-loop'
import Jobs, { type JobEnd } from '@loopguard/jobs'
import * as jobsTools from '@loopguard/jobs/tools'
import { createHarness, gate, type Harness, type ScriptEntry, userMessage } from '@loopguard/testkit'
import { defineTool, type ToolDefinition } from '@loopguard/tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import { jobsHost, makes, notices, story, textOf, turns, Work } from './support.ts'

const told = (agent: Agent): string[] => story(agent).filter((line) => /^(told|user|end|model)/.test(line))

/** A tool that waits until the test lets it go. */
function stopper(): { readonly tool: ToolDefinition; readonly reached: Promise<void>; readonly go: () => void } {
  const [reached, go] = [gate(), gate()]
  const execute = async (): Promise<string> => {
    reached.open()
    await go.opened
    return 'went on'
  }
  return { tool: defineTool({ name: 'stop', description: '', parameters: {}, execute }), reached: reached.opened, go: () => go.open() }
}

/** An agent in the middle of a step that `go` ends, and what the model answers in the next. */
async function busy(answer: ScriptEntry): Promise<{ readonly harness: Harness; readonly agent: Agent; readonly go: () => void }> {
  const { tool, reached, go } = stopper()
  const harness = await jobsHost({ script: [makes(['stop', {}]), answer], tools: [tool] })
  const agent = harness.agent()
  agent.followup(userMessage('go'))
  await reached
  return { harness, agent, go }
}

describe('the notice of an end', () => {
  it('is one sentence from the plugin jobs, with id, kind, label and status, and without the output', async () => {
    const harness = await jobsHost({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const work = new Work(harness, agent, { kind: 'bash', label: 'npm run build' })
    work.print('secret output')
    await work.end({ status: 'failed', detail: 'signal: SIGSEGV' })
    await agent.whenIdle()
    const message = harness.model.requests[0]?.messages[0]
    expect(message?.source).toEqual({ kind: 'plugin', plugin: 'jobs' })
    expect(textOf(message as never)).toBe(
      'Background job bash-1 (bash: npm run build) has ended with the status failed, signal: SIGSEGV; job_output reads what it printed.',
    )
  })

  it('wakes an owner that is idle, in a turn of its own', async () => {
    const harness = await jobsHost({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    await new Work(harness, agent).end()
    await agent.whenIdle()
    expect(story(agent)).toEqual([
      'start test-1',
      'over test-1 completed',
      'told: test-1 completed, exit code: 0',
      'model: ok',
      'end: completed',
    ])
  })

  it('is injected where the owner is busy, at the end of the step', async () => {
    const { harness, agent, go } = await busy({ text: 'done' })
    await new Work(harness, agent).end()
    expect(agent.inbox.hasPending).toBe(false)
    go()
    await agent.whenIdle()
    expect(story(agent).slice(-5)).toEqual([
      'over test-1 completed',
      'result: went on',
      'told: test-1 completed, exit code: 0',
      'model: done',
      'end: completed',
    ])
    const targets = agent.session.events.flatMap(({ type, data }) => (type === 'inbox/queued' ? [data.target] : []))
    expect(targets).toEqual(['next-turn', 'next-step'])
  })

  it('adds a step to a turn that wanted to end', async () => {
    const asked = gate()
    const answered = gate()
    const harness = await jobsHost({
      script: [
        async () => {
          asked.open()
          await answered.opened
          return { text: 'that is all' }
        },
        { text: 'good' },
      ],
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await asked.opened
    await new Work(harness, agent).end()
    answered.open()
    await agent.whenIdle()
    expect(told(agent)).toEqual(['user: go', 'model: that is all', 'told: test-1 completed, exit code: 0', 'model: good', 'end: completed'])
  })

  it.each(['idle', 'busy'])('of two jobs that end in one tick cost one step: the owner is %s', async (how) => {
    const { tool, reached, go } = stopper()
    const harness = await jobsHost({ script: [...(how === 'busy' ? [makes(['stop', {}])] : []), { text: 'ok' }], tools: [tool] })
    const agent = harness.agent()
    if (how === 'busy') {
      agent.followup(userMessage('go'))
      await reached
    }
    const works = [new Work(harness, agent), new Work(harness, agent)]
    await Promise.all(works.map((work) => work.end()))
    go()
    await agent.whenIdle()
    expect(told(agent).slice(-4).toSorted()).toEqual([
      'end: completed',
      'model: ok',
      'told: test-1 completed, exit code: 0',
      'told: test-2 completed, exit code: 0',
    ])
    expect(harness.model.requests).toHaveLength(how === 'busy' ? 2 : 1)
  })

  it('that comes while a slow listener closes the turn is not lost', async () => {
    const harness = await jobsHost({ script: [{ text: 'that is all' }, { text: 'good' }] })
    const agent = harness.agent()
    const [closing, go] = [gate(), gate()]
    harness.ctx.on('agent/turn-stopping', async () => {
      closing.open()
      await go.opened
    })
    agent.followup(userMessage('go'))
    await closing.opened
    await new Work(harness, agent).end()
    go.open()
    await agent.whenIdle()
    expect(told(agent)).toEqual(['user: go', 'model: that is all', 'told: test-1 completed, exit code: 0', 'model: good', 'end: completed'])
  })

  it('that comes after the last look at the inbox wakes the owner again', async () => {
    const harness = await jobsHost({ script: [{ text: 'that is all' }, { text: 'good' }] })
    const agent = harness.agent()
    let settle = (): void => {}
    // Settles at once, where a promise would take its time.
    const done = {
      // oxlint-disable-next-line unicorn/no-thenable -- the point of this test
      then: (over: (end: JobEnd) => void) => void (settle = () => over({ status: 'completed' })),
    } as unknown as Promise<JobEnd>
    harness.ctx.jobs.start({ kind: 'test', label: 'x', owner: agent, run: () => ({ cancel: () => settle(), done }) })
    const queuedWhile: string[] = []
    harness.ctx.on('session/event', (_, { type, data }) => {
      if (type === 'turn/end') settle()
      if (type === 'inbox/queued' && data.message.source.kind === 'plugin') queuedWhile.push(agent.status)
    })
    await harness.say(agent, 'go')
    expect(told(agent)).toEqual([
      'user: go',
      'model: that is all',
      'end: completed',
      'told: test-1 completed',
      'model: good',
      'end: completed',
    ])
    expect(queuedWhile).toEqual(['running'])
  })
})

describe('no notice', () => {
  it('of an end that the model has read', async () => {
    const { tool, reached, go } = stopper()
    const harness = await jobsHost({
      script: [makes(['stop', {}], ['job_output', { job_id: 'test-1' }]), { text: 'done' }],
      tools: [tool],
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await reached
    await new Work(harness, agent).end()
    go()
    await agent.whenIdle()
    expect([notices(agent), told(agent)]).toEqual([{ queued: 0, read: 0 }, ['user: go', 'model: done', 'end: completed']])
  })

  it('of an end that it waited for', async () => {
    const harness = await jobsHost({ script: [makes(['job_output', { job_id: 'test-1', wait: true }]), { text: 'done' }] })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    harness.ctx.on('session/event', (_, { type }) => void (type === 'tool/call' && setImmediate(() => void work.end())))
    await harness.say(agent, 'go')
    expect(notices(agent).queued).toBe(0)
  })

  it('of an end that the list has shown', async () => {
    const { tool, reached, go } = stopper()
    const harness = await jobsHost({ script: [makes(['stop', {}], ['job_list', {}]), { text: 'done' }], tools: [tool] })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await reached
    await new Work(harness, agent).end()
    go()
    await agent.whenIdle()
    expect(notices(agent).queued).toBe(0)
  })

  it('of a job that the model has killed, when it ends at once and when it takes its time', async () => {
    const harness = await jobsHost({
      script: [makes(['job_kill', { job_id: 'test-1' }], ['job_kill', { job_id: 'slow-1' }]), { text: 'done' }],
    })
    const agent = harness.agent()
    new Work(harness, agent)
    let settle = (): void => {}
    const done = new Promise<{ status: 'killed' }>((resolve) => (settle = () => resolve({ status: 'killed' })))
    harness.ctx.jobs.start({ kind: 'slow', label: 'x', owner: agent, run: () => ({ cancel() {}, done }) })
    await harness.say(agent, 'go')
    settle()
    await turns()
    await agent.whenIdle()
    expect([story(agent).slice(-1), notices(agent).queued, harness.model.requests.length]).toEqual([['over slow-1 killed'], 0, 2])
  })

  it('of an end whose result the model did not get is missing: it is told', async () => {
    const { tool, reached, go } = stopper()
    const harness = await jobsHost({ script: [makes(['stop', {}], ['job_output', { job_id: 'test-1' }]), { text: 'done' }], tools: [tool] })
    harness.ctx.on('tools/post-execute', async (exec, _result, next) =>
      exec.name === 'job_output' ? { kind: 'block', feedback: [{ type: 'text', text: 'no' }] } : next(),
    )
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await reached
    await new Work(harness, agent).end()
    go()
    await agent.whenIdle()
    expect(notices(agent)).toEqual({ queued: 1, read: 1 })
  })

  it('of a job that other code has read to its end', async () => {
    const { harness, agent, go } = await busy({ text: 'done' })
    const work = new Work(harness, agent)
    await work.end()
    harness.ctx.jobs.read(agent, work.id)
    go()
    await agent.whenIdle()
    expect(notices(agent).queued).toBe(0)
  })

  it('of a job of which other code has asked the end is missing: it is told', async () => {
    const harness = await jobsHost({ script: [{ text: 'ok' }] })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    harness.ctx.jobs.kill(agent, work.id)
    await turns()
    await agent.whenIdle()
    expect(told(agent)).toEqual(['told: test-1 killed, on request', 'model: ok', 'end: completed'])
  })

  it('while the model cannot have read it in the step that it enters: an end during pre-step is told after that step, or not at all', async () => {
    const [entering, go] = [gate(), gate()]
    const harness = await jobsHost({ script: [makes(['job_output', { job_id: 'test-1' }]), { text: 'done' }] })
    harness.ctx.on('agent/pre-step', async (event, next) => {
      if (event.step === 1) {
        entering.open()
        await go.opened
      }
      return next()
    })
    const agent = harness.agent()
    const [read, unread] = [new Work(harness, agent), new Work(harness, agent)]
    agent.followup(userMessage('go'))
    await entering.opened
    await Promise.all([read.end(), unread.end()])
    go.open()
    await agent.whenIdle()
    expect(told(agent)).toEqual(['user: go', 'told: test-2 completed, exit code: 0', 'model: done', 'end: completed'])
  })

  it('of fifty-odd jobs that end in one step is lost, although the first are kept no longer', async () => {
    const { tool, reached, go } = stopper()
    const harness = await jobsHost({
      script: [makes(['stop', {}]), { text: 'done' }],
      tools: [tool],
      jobs: { maxConcurrentJobsPerOwner: 60 },
    })
    const agent = harness.agent()
    agent.followup(userMessage('go'))
    await reached
    const works = Array.from({ length: 55 }, () => new Work(harness, agent))
    await Promise.all(works.map((work) => work.end()))
    go()
    await agent.whenIdle()
    expect(notices(agent)).toEqual({ queued: 55, read: 55 })
  })
})

describe('waking', () => {
  it('happens three times; then notices wait, until a message of the user brings them and a fresh budget', async () => {
    const harness = await jobsHost()
    const agent = harness.agent()
    const works: Work[] = []
    const startsOne = () => {
      works.push(new Work(harness, agent))
      return { text: `started ${works.at(-1)?.id}` }
    }
    harness.model.push(...Array.from({ length: 20 }, () => startsOne))
    await harness.say(agent, 'go')
    for (let wake = 0; wake < 6; wake++) {
      await works.at(-1)?.end()
      await agent.whenIdle()
    }
    expect(works).toHaveLength(4)
    expect([agent.inbox.nextStep.length, agent.status]).toEqual([1, 'idle'])
    expect(told(agent).slice(-3)).toEqual(['told: test-3 completed, exit code: 0', 'model: started test-4', 'end: completed'])
    await harness.say(agent, 'and?')
    expect(told(agent).slice(-4)).toEqual(['told: test-4 completed, exit code: 0', 'user: and?', 'model: started test-5', 'end: completed'])
    for (let wake = 0; wake < 6; wake++) {
      await works.at(-1)?.end()
      await agent.whenIdle()
    }
    expect(works).toHaveLength(8)
    expect(notices(agent)).toEqual({ queued: 8, read: 7 })
  })

  it('is not renewed by the message of a plugin', async () => {
    const harness = await jobsHost({ jobTools: { maxConsecutiveWakes: 1 }, script: [{ text: 'ok', repeat: Infinity }] })
    const agent = harness.agent()
    await new Work(harness, agent).end()
    await agent.whenIdle()
    agent.followup({ ...userMessage('from a plugin'), source: { kind: 'plugin', plugin: 'other' } })
    await agent.whenIdle()
    await new Work(harness, agent).end()
    await agent.whenIdle()
    expect([agent.inbox.nextStep.length, notices(agent)]).toEqual([1, { queued: 2, read: 1 }])
  })

  it('that is turned off leaves every notice to the next wake', async () => {
    const harness = await jobsHost({ jobTools: { maxConsecutiveWakes: 0 }, script: [{ text: 'ok', repeat: Infinity }] })
    const agent = harness.agent()
    await new Work(harness, agent).end()
    expect([agent.status, agent.inbox.nextStep.length]).toEqual(['idle', 1])
    await harness.say(agent, 'hi')
    expect(told(agent)).toEqual(['told: test-1 completed, exit code: 0', 'user: hi', 'model: ok', 'end: completed'])
  })

  it('comes before a turn that waits already, which could read the end before it is told', async () => {
    const harness = await jobsHost({ script: ['hang', { text: 'ok', repeat: Infinity }] })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    agent.followup(userMessage('one'))
    await turns()
    agent.followup(userMessage('two'))
    agent.cancel({ kind: 'user' }, { keepInbox: true })
    await agent.whenIdle()
    await work.end()
    await agent.whenIdle()
    expect(told(agent).slice(-4)).toEqual(['told: test-1 completed, exit code: 0', 'user: two', 'model: ok', 'end: completed'])
  })
})

describe('a cancel', () => {
  it('that discards a notice does not undo the end: it is injected again, and does not wake', async () => {
    const harness = await jobsHost({ jobTools: { maxConsecutiveWakes: 0 }, script: [{ text: 'ok' }] })
    const agent = harness.agent()
    await new Work(harness, agent).end()
    const [message] = agent.inbox.nextStep
    agent.cancel()
    agent.cancel()
    expect([agent.inbox.nextStep, agent.status]).toEqual([[message], 'idle'])
    await harness.say(agent, 'hi')
    expect(told(agent)).toEqual(['told: test-1 completed, exit code: 0', 'user: hi', 'model: ok', 'end: completed'])
    expect(notices(agent)).toEqual({ queued: 1, read: 1 })
  })

  it.each([{ keepInbox: false }, { keepInbox: true }])(
    'before the turn that a notice has asked for leaves it for the next wake (%j)',
    async (options) => {
      const harness = await jobsHost({ script: [{ text: 'ok' }] })
      const agent = harness.agent()
      let isCancelled = false
      harness.ctx.on('session/event', (_, { type }) => {
        if (type !== 'inbox/queued' || isCancelled) return
        isCancelled = true
        queueMicrotask(() => agent.cancel({ kind: 'user' }, options))
      })
      await new Work(harness, agent).end()
      await agent.whenIdle()
      await turns()
      expect([agent.status, harness.model.requests.length]).toEqual(['idle', 0])
      await harness.say(agent, 'hi')
      await agent.whenIdle()
      expect(notices(agent)).toEqual({ queued: 1, read: 1 })
    },
  )

  it('in the middle of a step in which a job ends leaves the notice for the next wake', async () => {
    const { harness, agent, go } = await busy({ text: 'ok' })
    await new Work(harness, agent).end()
    agent.cancel()
    go()
    await agent.whenIdle()
    await turns()
    expect([agent.status, agent.inbox.nextStep.length]).toEqual(['idle', 1])
    await harness.say(agent, 'hi')
    expect(told(agent)).toEqual([
      'user: go',
      'end: aborted',
      'told: test-1 completed, exit code: 0',
      'user: hi',
      'model: ok',
      'end: completed',
    ])
  })

  it('does not keep later ends from waking', async () => {
    const harness = await jobsHost({ script: ['hang', { text: 'ok' }] })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    agent.followup(userMessage('go'))
    await turns()
    agent.cancel()
    await agent.whenIdle()
    await work.end()
    await agent.whenIdle()
    expect(told(agent)).toEqual(['user: go', 'end: aborted', 'told: test-1 completed, exit code: 0', 'model: ok', 'end: completed'])
  })
})

describe('disposal', () => {
  it('of the owner sends nothing, and is not reported as a fault', async () => {
    const harness = await jobsHost({ jobTools: { maxConsecutiveWakes: 0 } })
    const agent = harness.agent()
    await new Work(harness, agent).end()
    const running = new Work(harness, agent)
    await agent.dispose()
    expect([running.cancelled.length, notices(agent), harness.log]).toEqual([1, { queued: 1, read: 0 }, []])
  })

  it('a plugin that comes late, or comes again, has the notices that wait discarded by no cancel', async () => {
    const harness = await createHarness({ script: [{ text: 'ok' }] })
    onTestFinished(() => harness.dispose())
    await harness.ctx.plugin(Jobs)
    const first = await harness.ctx.plugin(jobsTools, { maxConsecutiveWakes: 0 })
    const agent = harness.agent()
    await new Work(harness, agent).end()
    await first.dispose()
    await harness.ctx.plugin(jobsTools)
    agent.cancel()
    expect([agent.status, agent.inbox.nextStep.length]).toEqual(['idle', 1])
    await harness.say(agent, 'hi')
    expect(notices(agent)).toEqual({ queued: 1, read: 1 })
  })

  it('a notice that the log refuses is reported', async () => {
    const harness = await jobsHost({ invariants: false })
    const agent = harness.agent()
    const work = new Work(harness, agent)
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      if (name === 'session/event' && (args[1] as { type?: string }).type === 'inbox/queued') throw new Error('full')
    })
    await work.end()
    expect(harness.log.map(({ text }) => text)).toEqual([`agent ${agent.id} was not told of the end of a job: full`])
  })
})
