import { HarnessError } from '@loopguard/kit'
import { follow, unfollow } from '@loopguard/timeout'
import type { Captured } from './captured.ts'
import type { Command, CommandEnd } from './command.ts'
import type { ShellResult, ShellSpec } from './types.ts'

/** The result of a command that its signal kept from running. */
export const NEVER_RAN: ShellResult = Object.freeze({
  stdout: '',
  stderr: '',
  exitCode: null,
  signal: null,
  timedOut: false,
  aborted: true,
  truncated: Object.freeze([]),
})

/**
 * Waits for a command under its timeout and its signal.
 * @throws HarnessError `SHELL_SPAWN_FAILED`; `SHELL_CLOSED` when the owner of the command, or the service, went first.
 */
export async function resultOf(
  command: Command,
  { timeoutMs, signal }: ShellSpec,
  [stdout, stderr]: readonly [Captured, Captured],
): Promise<ShellResult> {
  const end = (await endUnder(command, timeoutMs, signal)) as CommandEnd
  if (end.cause === 'owner') throw new HarnessError('shell: the command was ended, since its owner was unloaded', 'SHELL_CLOSED')
  return Object.freeze({
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode: end.exitCode,
    signal: end.signal,
    timedOut: end.cause === 'timeout',
    aborted: end.cause === 'abort',
    truncated: Object.freeze([stdout.truncation, stderr.truncation].filter((truncation) => truncation !== undefined)),
  })
}

/**
 * Waits for the end of a command, or for what makes it needless, under a timeout and a signal. The first cause wins; nothing is left on
 * the signal.
 */
export async function endUnder<T = CommandEnd>(
  command: Command,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  ...needless: readonly Promise<T>[]
): Promise<CommandEnd | T> {
  const follower = { abort: () => command.stop('abort') }
  const timer = setTimeout(() => command.stop('timeout'), timeoutMs)
  if (signal !== undefined) follow(signal, follower)
  try {
    return await Promise.race([command.done, ...needless])
  } finally {
    clearTimeout(timer)
    if (signal !== undefined) unfollow(signal, follower)
  }
}
