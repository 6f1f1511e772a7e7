import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '@loopguard/agent-loop'
import { SessionId } from '@loopguard/llm'
import { userMessage } from '@loopguard/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OPTIONS, scheduleHost } from './schedule/host.ts'
import { noticeFault, storiesOf } from './schedule/verdict.ts'
import { until } from './support.ts'

const LONG = process.env['LOOPGUARD_LONG'] === '1'
const RUNS = LONG ? 1000 : 100

/** What a job does, and what it prints in the end if nothing ends it before. */
const WORK = {
  nothing: { script: ':', prints: '' },
  quick: { script: 'echo 1; echo 2 >&2; exit 3', prints: '1\n2\n' },
  steady: { script: 'for i in 1 2 3 4; do echo "€ $i"; sleep 0.01; done', prints: '€ 1\n€ 2\n€ 3\n€ 4\n' },
  family: { script: '(sleep 0.03; echo child) & echo parent', prints: 'parent\nchild\n' },
  endless: { script: 'echo up; sleep 60', prints: 'up\n' },
  deaf: { script: `trap '' TERM; echo up; sleep 60 & sleep 60`, prints: 'up\n' },
} as const

const kind = fc.constantFrom(...(Object.keys(WORK) as (keyof typeof WORK)[]))
const which = fc.nat({ max: 5 })
const act = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('start' as const), kind }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('read' as const, 'wait' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('list' as const, 'resume' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which, keepInbox: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('clear' as const), keepInbox: fc.boolean(), isTold: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pause' as const), ms: fc.nat({ max: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crowd' as const), kinds: fc.array(kind, { minLength: 3, maxLength: 3 }) }) },
)

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

const figures = { runs: 0, processes: 0, left: 0, jobs: 0, notices: 0, lost: 0, doubled: 0, needless: 0, early: 0 }

type Host = Awaited<ReturnType<typeof scheduleHost>>

/** One agent, and what is done to it. */
class Run {
  readonly marker: string
  readonly disposals: { from: number; to: number }[] = []
  readonly works = new Map<string, keyof typeof WORK>()
  agent: Agent
  private readonly host: Host
  private readonly id: SessionId

  constructor(host: Host, name: string) {
    this.host = host
    this.id = SessionId(name)
    this.marker = `loopguard-${process.pid}-${name}`
    this.agent = host.ctx.agentLoop.create(this.id, OPTIONS)
  }

  async perform(step: Act): Promise<void> {
    switch (step.do) {
      case 'start':
        return this.start(step.kind)
      case 'read':
        return this.call('job_output', { job_id: this.idOf(step.which) })
      case 'wait':
        return this.call('job_output', { job_id: this.idOf(step.which), wait: true, timeout_ms: 30 })
      case 'kill':
        return this.call('job_kill', { job_id: this.idOf(step.which) })
      case 'list':
        return this.call('job_list', {})
      case 'cancel':
        return this.cancel(step.which, step.keepInbox)
      case 'clear':
        // Before what was sent is claimed, or while the agent does nothing: what waits in the inbox is discarded.
        if (step.isTold) this.agent.followup(userMessage('never mind'))
        this.agent.cancel({ kind: 'user' }, { keepInbox: step.keepInbox })
        return this.agent.whenIdle()
      case 'resume':
        return this.resume()
      case 'crowd':
        // More ends in a row than may wake the agent, without a word of the user: the last notices wait when the inbox is cleared.
        for (const each of step.kinds) await this.start(each)
        await sleep(100)
        this.agent.cancel()
        return this.agent.whenIdle()
      case 'pause':
        await sleep(step.ms)
    }
  }

  /** Everything that ends by itself has ended, and has been told as far as it is told at all. */
  async settle(): Promise<void> {
    const mayEnd = (): boolean =>
      this.host.ctx.jobs
        .list(this.agent)
        .some(({ id, status }) => status === 'stopping' || (status === 'running' && !/endless|deaf/.test(this.works.get(id) ?? '')))
    await until(() => !mayEnd(), 'the jobs that end by themselves have ended')
    await this.agent.whenIdle()
  }

  async dispose(): Promise<void> {
    const { events } = this.agent.session
    const from = events.length
    await this.agent.dispose()
    this.disposals.push({ from, to: events.length })
  }

  private async start(work: keyof typeof WORK): Promise<void> {
    const { events } = this.agent.session
    const before = events.length
    await this.call('bash', { command: `: ${this.marker}; ${WORK[work].script}`, description: work, run_in_background: true })
    for (const { type, data } of events.slice(before)) if (type === 'job/start') this.works.set(data.id, work)
  }

  private async call(name: string, args: object): Promise<void> {
    this.host.model.plans.set(this.id, [{ name, arguments: args }])
    this.agent.followup(userMessage('go'))
    await this.agent.whenIdle()
  }

  private async cancel(job: number, keepInbox: boolean): Promise<void> {
    const off = this.host.ctx.on('session/event', (session, { type }) => {
      if (type === 'tool/call' && session === this.agent.session) queueMicrotask(() => this.agent.cancel({ kind: 'user' }, { keepInbox }))
    })
    await this.call('job_output', { job_id: this.idOf(job), wait: true, timeout_ms: 500 })
    off()
  }

  private async resume(): Promise<void> {
    await this.dispose()
    this.agent = await this.host.ctx.agentLoop.resume(this.id, OPTIONS)
  }

  private idOf(index: number): string {
    return `bash-${index + 1}`
  }
}

/** Processes that were started with that text in their command line. Zombies have none. */
function processesWith(text: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  }).length
}

it(
  `${RUNS} random schedules: no process is left, no notice is lost or doubled, reads are disjoint and complete`,
  { timeout: LONG ? 7_200_000 : 1_800_000 },
  async () => {
    await using host = await scheduleHost()
    host.ctx.on('shell/spawn', () => void figures.processes++)
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 16 }), async (steps) => {
        const run = new Run(host, `run-${++figures.runs}`)
        for (const step of steps) await run.perform(step)
        await run.settle()
        await run.dispose()
        check(run)
      }),
      // Another run of the same schedule is another run: there is nothing to shrink.
      { numRuns: RUNS, endOnFailure: true },
    )
    expect(figures).toMatchObject({ runs: RUNS, left: 0, lost: 0, doubled: 0, needless: 0, early: 0 })
    expect(figures.notices).toBeGreaterThan(RUNS / 10)
    if (LONG) console.info(JSON.stringify(figures))
  },
)

function check(run: Run): void {
  const left = processesWith(run.marker)
  figures.left += left
  expect(left).toBe(0)
  const stories = storiesOf(run.agent.session.events, run.disposals)
  for (const story of stories) {
    figures.jobs++
    figures.notices += story.notices.size
    const fault = noticeFault(story)
    if (fault !== undefined) figures[fault]++
    expect({ id: story.id, fault, log: fault && run.agent.session.events }).toEqual({ id: story.id, fault: undefined, log: undefined })
    const prints = WORK[run.works.get(story.id) as keyof typeof WORK].prints
    // A read that saw the end of a job that nothing else has ended saw all of it; an earlier one saw the beginning.
    const expected = story.readEnd && !story.killed ? prints : prints.slice(0, story.printed.length)
    expect([story.id, story.printed]).toEqual([story.id, expected])
  }
}
