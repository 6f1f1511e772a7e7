import { expect } from 'vitest'
import type { Exec } from '../host.ts'
import { onFakeClock, settled } from '../clock.ts'
import { A, type Behaviour, type Next, times, withReminder } from '../stage.ts'
import { reminders, textOf } from '../transcript.ts'
import { BUDGET, CALL, untilAborted, stubborn, onClock, after, TIMED_OUT, codeOf, watchSignal } from './timeout-stage.ts'

export const timeouts: readonly Behaviour[] = [
  onClock('timer-wins', 'turns a call that outlives its budget into exactly the `TOOL_TIMEOUT` result', async ({ host }, clock) => {
    host.tool({ name: 'hang', timeoutMs: BUDGET, run: untilAborted })
    const result = await after(clock, BUDGET, host.call(CALL))
    expect(result).toEqual(TIMED_OUT)
    expect(clock.armed()).toBe(0)
  }),
  onClock('not-before', 'lets a call go on that still has a millisecond', async ({ host }, clock) => {
    const { run, finish } = stubborn()
    host.tool({ name: 'hang', timeoutMs: BUDGET, run })
    const call = host.call(CALL)
    await clock.pass(BUDGET - 1)
    finish('in time')
    expect(textOf((await call).content)).toBe('in time')
    expect(clock.armed()).toBe(0)
  }),
  onClock('no-budget', 'leaves a tool without a budget alone', async ({ host }, clock) => {
    const seen: unknown[] = []
    host.tool({ name: 'hang', run: ({ signal }) => `${clock.armed()} armed, ${seen.push(signal)}` })
    expect(textOf((await host.call(CALL)).content)).toBe('0 armed, 1')
  }),
  onClock('late-success', 'gives `TOOL_TIMEOUT` although the body then succeeds', async ({ host }, clock) => {
    host.tool({ name: 'hang', timeoutMs: BUDGET, run: (call) => untilAborted(call).catch(() => 'late') })
    expect(await after(clock, BUDGET, host.call(CALL))).toEqual(TIMED_OUT)
  }),
  onClock('quiescence', 'waits for the body to settle before it answers', async ({ host }, clock) => {
    const { run, finish } = stubborn()
    host.tool({ name: 'hang', timeoutMs: BUDGET, run })
    let answered = false
    const call = host.call(CALL).finally(() => (answered = true))
    await clock.pass(BUDGET * 10)
    expect(answered).toBe(false)
    finish('at last')
    expect(await call).toEqual(TIMED_OUT)
  }),
  onClock('cancel-wins', 'leaves a cancel a cancel, also when the time passes during the clean-up', async ({ host }, clock) => {
    const { run, finish } = stubborn()
    host.tool({ name: 'hang', timeoutMs: BUDGET, run })
    const caller = new AbortController()
    const call = host.call(CALL, { signal: caller.signal })
    await settled()
    caller.abort(new Error('user'))
    await clock.pass(BUDGET * 2)
    finish('stopped')
    expect(codeOf(await call)).toBe('ABORTED')
    expect(clock.armed()).toBe(0)
  }),
  onClock('timer-then-cancel', 'stays `TOOL_TIMEOUT` when a cancel follows during the clean-up', async ({ host }, clock) => {
    const { run, finish } = stubborn()
    host.tool({ name: 'hang', timeoutMs: BUDGET, run })
    const caller = new AbortController()
    const call = host.call(CALL, { signal: caller.signal })
    await clock.pass(BUDGET)
    caller.abort(new Error('user'))
    finish('stopped')
    expect(await call).toEqual(TIMED_OUT)
  }),
  onClock('body-signal', 'hands the body a signal that aborts with the deadline, and with the caller', async ({ host }, clock) => {
    const signals: AbortSignal[] = []
    host.tool({
      name: 'hang',
      timeoutMs: BUDGET,
      run: (call) => {
        signals.push(call.signal)
        return untilAborted(call)
      },
    })
    await after(clock, BUDGET, host.call(CALL))
    const caller = new AbortController()
    const call = host.call(CALL, { signal: caller.signal })
    await settled()
    caller.abort('stop')
    await call
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true])
    expect(signals[1]?.reason).toBe('stop')
  }),
  {
    id: 'signal-restored',
    guard: 'timeout-policy',
    says: "puts the caller's own signal back, whether the call succeeds, throws or times out",
    run: ({ host, subject }) =>
      onFakeClock(async (clock) => {
        const seen = watchSignal(host)
        await host.plug(subject.timeoutPolicy)
        host.tool({ name: 'quick', timeoutMs: BUDGET, run: () => 'quick' })
        host.tool({ name: 'break', timeoutMs: BUDGET, run: () => Promise.reject(new Error('broken')) })
        host.tool({ name: 'hang', timeoutMs: BUDGET, run: untilAborted })
        const { signal } = new AbortController()
        for (const name of ['quick', 'break', 'hang']) await after(clock, BUDGET, host.call({ name, arguments: {} }, { signal }))
        expect(seen).toHaveLength(6)
        expect(seen.every((one) => one === signal)).toBe(true)
      }),
  },
  onClock('inner-throws', 'gives `TOOL_TIMEOUT` although a wrapper inside it throws on the abort', async ({ host }, clock) => {
    host.on('tools/execute', async (_exec: Exec, next: Next) => {
      const result = await next()
      if (result.isError) throw new Error('inner wrapper gave up')
      return result
    })
    host.tool({ name: 'hang', timeoutMs: BUDGET, run: untilAborted })
    expect(await after(clock, BUDGET, host.call(CALL))).toEqual(TIMED_OUT)
  }),
  {
    id: 'outer-deadline',
    guard: 'timeout-policy',
    says: 'takes an outer deadline with the same code for the cancel that it is',
    run: ({ host, subject }) =>
      onFakeClock(async (clock) => {
        host.on('tools/execute', async (exec: Exec, next: Next) => {
          const { signal } = exec
          const outer = subject.deadline(signal, BUDGET, 'TOOL_TIMEOUT')
          exec.signal = outer.signal
          try {
            return await next()
          } finally {
            exec.signal = signal
            outer[Symbol.dispose]()
          }
        })
        await host.plug(subject.timeoutPolicy)
        host.tool({ name: 'hang', timeoutMs: BUDGET * 60, run: untilAborted })
        expect(textOf((await after(clock, BUDGET, host.call(CALL))).content)).not.toContain('60000')
      }),
  },
  onClock('own-code', "leaves a tool's own error with the code `TOOL_TIMEOUT` alone", async ({ host }) => {
    host.tool({
      name: 'hang',
      timeoutMs: BUDGET,
      run: () => Promise.reject(Object.assign(new Error('the database timed out'), { code: 'TOOL_TIMEOUT' })),
    })
    expect((await host.call(CALL)).error?.message).toBe('the database timed out')
  }),
  {
    id: 'each-attempt',
    guard: 'timeout-policy',
    says: 'gives each attempt of a retry that is outside it a deadline of its own',
    run: ({ host, subject }) =>
      onFakeClock(async (clock) => {
        host.on('tools/execute', async (_exec: Exec, next: Next) => {
          const first = await next()
          return codeOf(first) === 'TOOL_TIMEOUT' ? next() : first
        })
        await host.plug(subject.timeoutPolicy)
        const caller = new AbortController()
        host.tool({ name: 'hang', timeoutMs: BUDGET, run: untilAborted })
        const call = host.call(CALL, { signal: caller.signal })
        await clock.pass(BUDGET)
        await clock.pass(BUDGET)
        caller.abort('nobody else ends the second attempt')
        expect(await call).toEqual(TIMED_OUT)
      }),
  },
  onClock('over-maximum', 'takes a budget that no timer can hold for the longest that one can', async ({ host }, clock) => {
    host.tool({ name: 'hang', timeoutMs: 2 ** 31, run: untilAborted })
    const caller = new AbortController()
    const call = host.call(CALL, { signal: caller.signal })
    await clock.pass(60_000)
    expect(clock.armed()).toBe(1)
    caller.abort('enough')
    expect(codeOf(await call)).not.toBe('TOOL_TIMEOUT')
  }),
  {
    id: 'timed-out-repeats',
    guard: 'both',
    says: 'reminds at the third call that times out in a row',
    run: (stage) =>
      onFakeClock(async (clock) => {
        await withReminder(stage)
        await stage.host.plug(stage.subject.timeoutPolicy)
        stage.host.tool({ name: 'hang', timeoutMs: BUDGET, run: untilAborted })
        const agent = await stage.host.agent('timed-out-repeats')
        const turn = agent.turn('user', ...times(3, [CALL]), [A])
        for (let call = 0; call < 3; call++) await clock.pass(BUDGET)
        const read = await turn
        expect(read.filter((line) => line.startsWith('error'))).toEqual(times(3, `error Error: tool call timed out after ${BUDGET}ms`))
        expect(reminders(read)).toEqual(['gentle'])
      }),
  },
]
