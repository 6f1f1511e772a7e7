import type { Agent } from '@loopguard/agent-loop'
import Jobs from '@loopguard/jobs'
import * as jobsInvariant from '@loopguard/jobs/invariant'
import { createUserMessage, text } from '@loopguard/llm'
import { createHarness, type InvariantWatch, mountInvariants } from '@loopguard/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'

async function watched(before?: (agent: Agent) => void): Promise<{ agent: Agent; watch: InvariantWatch }> {
  const harness = await createHarness({ invariants: false })
  onTestFinished(() => harness.dispose())
  await harness.ctx.plugin(Jobs)
  const watch = await mountInvariants(harness.ctx)
  const agent = harness.agent()
  before?.(agent)
  await harness.ctx.plugin(jobsInvariant)
  return { agent, watch }
}

const start = { id: 'bash-1', kind: 'bash', label: 'x' }
const end = { id: 'bash-1', status: 'completed' } as const
const notice = (words = 'Background job bash-1 (bash: x) has ended') =>
  createUserMessage({ content: [text(words)], source: { kind: 'plugin', plugin: 'jobs' } })

describe('no id is given twice', () => {
  it('trips when a second job gets an id of the log', async () => {
    const { agent, watch } = await watched()
    agent.session.append('job/start', start)
    expect(() => agent.session.append('job/start', start)).toThrow('invariant violated')
    watch.assertBroken('@loopguard/jobs', 'a second job "bash-1" is started')
    expect(agent.session.events.filter(({ type }) => type === 'job/start')).toHaveLength(1)
  })

  it('trips when a job gets the id of one that was there before the checks began', async () => {
    const { agent, watch } = await watched((early) => void early.session.append('job/start', start))
    expect(() => agent.session.append('job/start', start)).toThrow('invariant violated')
    watch.assertBroken('@loopguard/jobs', 'a second job "bash-1" is started')
  })
})

describe('each end is that of a job that runs', () => {
  it('trips when a job ends that was never started', async () => {
    const { agent, watch } = await watched()
    expect(() => agent.session.append('job/end', end)).toThrow('invariant violated')
    watch.assertBroken('@loopguard/jobs', 'job "bash-1" ends, and was never started')
  })

  it('trips when a job ends a second time', async () => {
    const { agent, watch } = await watched()
    agent.session.append('job/start', start)
    agent.session.append('job/end', end)
    expect(() => agent.session.append('job/end', end)).toThrow('invariant violated')
    watch.assertBroken('@loopguard/jobs', 'job "bash-1" ends a second time')
  })
})

describe('the end of a job is told once, after it', () => {
  it('trips when an end is told that the log does not have', async () => {
    const { agent, watch } = await watched()
    agent.session.append('job/start', start)
    expect(() => agent.inject(notice())).toThrow('invariant violated')
    watch.assertBroken('@loopguard/jobs', 'the end of job "bash-1" is told, and the log has none')
  })

  it('trips when an end is told a second time', async () => {
    const { agent, watch } = await watched()
    agent.session.append('job/start', start)
    agent.session.append('job/end', end)
    agent.inject(notice())
    expect(() => agent.inject(notice())).toThrow('invariant violated')
    watch.assertBroken('@loopguard/jobs', 'the end of job "bash-1" is told a second time')
    expect(agent.inbox.nextStep).toHaveLength(1)
  })

  it('says nothing of the same message that is queued again, nor of messages that tell of no end', async () => {
    const { agent, watch } = await watched()
    agent.session.append('job/start', start)
    agent.session.append('job/end', end)
    const message = notice()
    agent.inject(message)
    agent.cancel()
    agent.inject(message)
    agent.inject(notice('hello'))
    agent.inject(createUserMessage({ content: [text('Background job bash-9 (')], source: { kind: 'user' } }))
    expect(watch.violations).toEqual([])
  })
})
