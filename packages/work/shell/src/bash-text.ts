import { truncationNote } from './truncation-note.ts'
import type { ShellResult } from './types.ts'

/** What the model reads of a command: what it printed, then, each on a line of its own, what else there is to know. */
export function bashText({ stdout, stderr, truncated, timedOut, signal, exitCode }: ShellResult, timeoutMs: number): string {
  const printed = [withoutLastBreak(stdout), stderr === '' ? '' : `[stderr]\n${withoutLastBreak(stderr)}`].filter((text) => text !== '')
  return [
    ...(printed.length === 0 ? ['(no output)'] : printed),
    ...truncated.map(truncationNote),
    ...(timedOut ? [`[timed out after ${timeoutMs}ms]`] : []),
    ...(signal !== null ? [`[killed by signal: ${signal}]`] : exitCode === 0 ? [] : [`[exit code: ${exitCode}]`]),
  ].join('\n')
}

/** The line break that ends what was printed; one that stands alone goes too. */
export function withoutLastBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}
