import { createHarness, fakeClock, gate, userMessage } from '@loopguard/testkit'

/** A tool that takes a minute, in no time at all; the test acts while its body runs, and never sleeps. */
export async function cancelWhileRunning(): Promise<string> {
  using clock = fakeClock()
  const started = gate()
  await using harness = await createHarness({
    script: [{ calls: [{ name: 'work', arguments: {} }] }],
    tools: [
      {
        name: 'work',
        description: 'Works for a minute.',
        parameters: {},
        execute: (_args, { signal }) =>
          new Promise((resolve, reject) => {
            const timer = setTimeout(() => resolve('done'), 60_000)
            signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)))
            started.open()
          }),
      },
    ],
  })
  const agent = harness.agent()
  agent.followup(userMessage('go'))
  await started.opened
  await clock.advance(30_000)
  agent.cancel()
  await agent.whenIdle()
  return `${clock.pending} timers left, ${agent.status}`
}
