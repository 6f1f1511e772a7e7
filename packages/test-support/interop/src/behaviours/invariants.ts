import { expect } from 'vitest'
import { settled } from '../clock.ts'
import type { PostDecision } from '../decisions.ts'
import type { Exec, Message, Result } from '../host.ts'
import { A, B, type Behaviour, type Next, type Stage, times, withReminder } from '../stage.ts'
import { reminders } from '../transcript.ts'

/** Loads the service, both guards and their companions. */
async function withCompanions(stage: Stage): Promise<() => Promise<void>> {
  const { host, subject } = stage
  await host.invariants()
  await host.plug(subject.timeoutPolicy)
  await withReminder(stage)
  const unload = await Promise.all(subject.companions.map(({ plugin }) => host.plug(plugin)))
  return async () => {
    await Promise.all(unload.map((dispose) => dispose()))
  }
}

/** What the host says while `run` runs: in its log, in results, in rejections. */
async function heard({ host }: Stage, run: () => Promise<unknown>): Promise<string> {
  const answer = await run().catch((error: unknown) => error)
  await settled()
  return [...host.complaints(), answer instanceof Error ? answer.message : JSON.stringify(answer)].join('\n')
}

/** A guard that has the name and the configuration of the reminder, and never says anything. */
const mute = {
  name: 'repeat-tool-reminder',
  apply(ctx: { on(event: string, listener: (...args: readonly unknown[]) => unknown): unknown }) {
    for (const event of ['tools/post-execute', 'agent/pre-step']) ctx.on(event, (...args) => (args.at(-1) as () => unknown)())
  },
}

function violationOf(stage: Stage, guard: string): RegExp {
  const packageName = stage.subject.companions.map((companion) => companion.packageName).find((one) => one.endsWith(guard))
  return new RegExp(`invariant violated by \\\\*"${packageName}`)
}

export const invariants: readonly Behaviour[] = [
  {
    id: 'companions',
    guard: 'invariants',
    says: "registers its checks with the host's own `ctx.invariants`, and they say nothing when all goes well",
    async run(stage) {
      const { host, subject } = stage
      await withCompanions(stage)
      host.tool({
        name: 'hang',
        timeoutMs: 20,
        run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(''))),
      })
      for (const { packageName } of subject.companions) expect(await host.reserved(packageName), packageName).toBe(true)
      const agent = await host.agent('companions')
      const read = [
        ...(await agent.turn('user', ...times(9, [A]), [B], [{ name: 'hang', arguments: {} }])),
        ...(await agent.turn('plugin', times(3, B))),
      ]
      expect(reminders(read)).toEqual(['gentle', '5', '8', 'gentle'])
      await settled()
      expect(host.complaints()).toEqual([])
    },
  },
  {
    id: 'companions-dispose',
    guard: 'invariants',
    says: 'gives the names of its packages back when its companions are unloaded',
    async run(stage) {
      const unload = await withCompanions(stage)
      await unload()
      for (const { packageName } of stage.subject.companions) expect(await stage.host.reserved(packageName), packageName).toBe(false)
    },
  },
  {
    id: 'signal-mutant',
    guard: 'invariants',
    says: "names timeout-policy when a wrapper leaves another signal than the caller's on the call",
    async run(stage) {
      await withCompanions(stage)
      stage.host.on('tools/execute', (exec: Exec, next: Next) => {
        exec.signal = new AbortController().signal
        return next()
      })
      const agent = await stage.host.agent('signal-mutant')
      expect(await heard(stage, () => stage.host.call(A, { agent }))).toMatch(violationOf(stage, 'timeout-policy'))
    },
  },
  {
    id: 'early-mutant',
    guard: 'invariants',
    says: 'names timeout-policy when a call is said to have timed out before its budget',
    async run(stage) {
      await withCompanions(stage)
      const message = 'tool call timed out after 60000ms'
      const error = { message, info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } }
      const early: Result = { isError: true, content: [{ type: 'text', text: `Error: ${message}` }], error }
      stage.host.on('tools/execute', () => Promise.resolve(early))
      const agent = await stage.host.agent('early-mutant')
      expect(await heard(stage, () => stage.host.call(A, { agent }))).toMatch(violationOf(stage, 'timeout-policy'))
    },
  },
  {
    id: 'reminder-mutant',
    guard: 'invariants',
    says: 'names repeat-tool-reminder when a reminder comes that is not due',
    async run(stage) {
      await withCompanions(stage)
      const forged: Message = stage.host.message('repeat-tool-reminder', 'You are repeating yourself.')
      stage.host.on('tools/post-execute', (): Promise<PostDecision> => Promise.resolve({ kind: 'accept', additionalContexts: [forged] }))
      const agent = await stage.host.agent('reminder-mutant')
      expect(await heard(stage, () => agent.turn('user', [A]))).toMatch(violationOf(stage, 'repeat-tool-reminder'))
    },
  },
  {
    id: 'missing-mutant',
    guard: 'invariants',
    says: 'names repeat-tool-reminder when a reminder that is due goes missing',
    async run(stage) {
      const { host, subject } = stage
      await host.invariants()
      host.tool({ name: A.name, run: () => 'same' })
      await host.plug(mute, { thresholds: [3, 5, 8], include: [], exclude: [] })
      for (const { plugin } of subject.companions) await host.plug(plugin)
      const agent = await host.agent('missing-mutant')
      expect(await heard(stage, () => agent.turn('user', ...times(3, [A])))).toMatch(violationOf(stage, 'repeat-tool-reminder'))
    },
  },
]
