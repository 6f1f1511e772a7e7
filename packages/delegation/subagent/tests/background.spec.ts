import type { ScriptEntry } from '@loopguard/testkit'
import { gate } from '@loopguard/testkit'
import Jobs from '@loopguard/jobs'
import { describe, expect, it } from 'vitest'
import { asks, endOf, ids, logsOf, results, stage, turns, uses, wordsOf } from './support.ts'

const asksInBackground = (...prompts: readonly string[]): ScriptEntry => ({
  calls: prompts.map((prompt) => ({ name: 'subagent', arguments: { description: `to ${prompt}`, prompt, run_in_background: true } })),
})
const reads = (id: string) => uses('job_output', { job_id: id })

/** What an agent was told by the host. */
const notices = ({ session }: { readonly session: { readonly events: readonly unknown[] } }): string[] =>
  (session.events as { type: string; data: { source: { kind: string }; content: Parameters<typeof wordsOf>[0] } }[]).flatMap(
    ({ type, data }) => (type === 'user/message' && data.source.kind === 'plugin' ? [wordsOf(data.content)] : []),
  )

describe('a child in the background', () => {
  it('is a job of kind subagent: the parent goes on, is told of the end, and reads the answer', async () => {
    const { harness, cast, parent } = await stage({ jobs: true })
    const meanwhile = gate()
    cast.play('main', asksInBackground('count'), () => (meanwhile.open(), { text: 'I go on.' }), reads('subagent-1'), { text: 'It is 7.' })
    cast.play('main.1', async () => (await meanwhile.opened, { text: '7' }))
    await harness.say(parent, 'go')
    await harness.ctx.jobs.whenIdle()
    await parent.whenIdle()
    expect(results(parent).map(({ text }) => text)).toEqual(['started background job subagent-1', '7\n[status: completed]'])
    expect(notices(parent)).toEqual([
      'Background job subagent-1 (subagent: to count) has ended with the status completed; job_output reads what it printed.',
    ])
    expect(ids(harness)).toEqual(['main'])
  })

  it('that does not complete has failed, says how, and gives what it had said', async () => {
    const { harness, cast, parent } = await stage({ jobs: true })
    cast.play('main.1', { text: 'so far', finish: 'max-tokens' })
    cast.play('main', asksInBackground('a'), () => harness.ctx.jobs.whenIdle().then(() => reads('subagent-1')))
    await harness.say(parent, 'go')
    expect(results(parent)[1]?.text).toBe('so far\n[status: failed, max-tokens]')
  })

  it('that is killed is cancelled by its parent, and gone', async () => {
    const { harness, cast, parent } = await stage({ jobs: true })
    const logs = logsOf(harness)
    const working = gate()
    cast.play('main.1', () => (working.open(), 'hang'))
    cast.play('main', asksInBackground('a'), () => working.opened.then(() => uses('job_kill', { job_id: 'subagent-1' })))
    await harness.say(parent, 'go')
    await harness.ctx.jobs.whenIdle()
    expect([endOf(logs.get('main.1')!), ids(harness)]).toEqual(['aborted by parent', ['main']])
    expect(harness.ctx.jobs.list(parent)).toMatchObject([{ id: 'subagent-1', status: 'killed', detail: 'aborted (parent)' }])
    expect(notices(parent)).toEqual([])
  })

  it('outlives a cancel of its parent, as any job, and goes with its parent', async () => {
    const { harness, cast, parent } = await stage({ jobs: true })
    const logs = logsOf(harness)
    const working = gate()
    cast.play('main.1', () => (working.open(), 'hang'))
    cast.play('main', asksInBackground('a'), 'hang')
    const said = harness.say(parent, 'go')
    await working.opened
    parent.cancel()
    await said
    for (let turn = 0; turn < 5; turn++) await turns()
    expect(ids(harness)).toEqual(['main', 'main.1'])
    expect(harness.ctx.jobs.list(parent)).toMatchObject([{ status: 'running' }])
    await parent.dispose()
    expect(ids(harness)).toEqual([])
    expect(endOf(logs.get('main.1')!)).toMatch(/^aborted by (parent|disposed)$/)
    expect(
      logs
        .get('main')!
        .filter(({ type }) => type.startsWith('job/'))
        .map(({ type }) => type),
    ).toEqual(['job/start', 'job/end'])
  })

  it('that may not be is refused before there is a job', async () => {
    const { harness, cast, parent } = await stage({ jobs: true, config: { maxTotal: 1 } })
    cast.play('main', asksInBackground('a', 'b'), { text: 'enough' })
    await harness.say(parent, 'go')
    expect(results(parent).map(({ code }) => code)).toEqual([undefined, 'SUBAGENT_TOTAL'])
    expect(parent.session.events.filter(({ type }) => type === 'job/start')).toHaveLength(1)
    await harness.ctx.jobs.whenIdle()
  })

  it('that cannot be made ends its job as failed, and the call', async () => {
    const { harness, cast, parent } = await stage({ jobs: true, invariants: false })
    harness.ctx.on('internal/dispatch', (_mode, name, args) => {
      const [, event] = args as [unknown, { readonly type: string } | undefined]
      if (name === 'session/event' && event?.type === 'subagent/start') throw Object.assign(new Error('no room'), { code: 'NO_ROOM' })
    })
    cast.play('main', asksInBackground('a'))
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([{ code: 'NO_ROOM', text: 'Error: no room' }])
    expect(harness.ctx.jobs.list(parent)).toMatchObject([{ status: 'failed', detail: 'no room' }])
  })

  it('is more than a job limit lets run: nothing is made', async () => {
    const { harness, cast, parent } = await stage({ plugins: [[Jobs, { maxConcurrentJobsPerOwner: 1 }]] })
    const logs = logsOf(harness)
    const done = gate()
    cast.play('main.1', async () => (await done.opened, { text: 'done' }))
    cast.play('main', asksInBackground('a', 'b'), () => (done.open(), { text: 'ok' }))
    await harness.say(parent, 'go')
    expect(results(parent).map(({ code }) => code)).toEqual([undefined, 'JOB_LIMIT'])
    await harness.ctx.jobs.whenIdle()
    expect([...logs.keys()]).toEqual(['main', 'main.1'])
  })
})

describe('run_in_background', () => {
  it('is there as long as there are jobs', async () => {
    const { harness, cast, parent } = await stage()
    const has = (): boolean => 'run_in_background' in (harness.ctx.tools.get('subagent')!.parameters['properties'] as object)
    expect(has()).toBe(false)
    const jobs = harness.ctx.plugin(Jobs)
    await jobs
    expect(has()).toBe(true)
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([{ text: 'done' }])
    await jobs.dispose()
    await turns()
    expect(has()).toBe(false)
  })
})
