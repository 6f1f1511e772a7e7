import { type HookEvent, type HookOutput, repeatToolReminder, timeLimited } from '@loopguard/guards-claude-code'

export const hook: ((event: HookEvent) => Promise<HookOutput>) | undefined = repeatToolReminder().PostToolBatch[0]?.hooks[0]
export const handler: (args: { a: number }, extra: unknown) => Promise<number> = timeLimited(
  ({ a }: { a: number }, { signal }) => (signal.aborted ? 0 : a),
  5,
)

// The types are not `any`.
// @ts-expect-error -- a threshold is a number
repeatToolReminder({ thresholds: ['3'] })
// @ts-expect-error -- milliseconds are a number
timeLimited(() => 1, '5')
