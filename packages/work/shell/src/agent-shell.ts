import { HarnessError } from '@loopguard/kit'
import { follow, unfollow } from '@loopguard/timeout'
import { withoutLastBreak } from './bash-text.ts'
import type { CommandEnd } from './command.ts'
import type { PersistentResult, PersistentShell } from './persistent-shell.ts'

const MAX_BYTES_OF_A_CHARACTER = 4

/** The shell of one agent, or the next one when it has ended. Its calls follow one another. */
export class AgentShell {
  private readonly open: () => PersistentShell
  private readonly limits: { readonly timeoutMs: number; readonly maxOutputChars: number }
  private shell: PersistentShell | undefined
  private last: Promise<void> = Promise.resolve()

  constructor(open: () => PersistentShell, limits: AgentShell['limits']) {
    this.open = open
    this.limits = limits
  }

  /** What the model reads; `undefined` for a call that was aborted. One that was aborted before its turn came never runs. */
  async run(command: string, signal: AbortSignal): Promise<string | undefined> {
    const turn = this.last
    let done!: () => void
    const mine = new Promise<void>((resolve) => (done = resolve))
    this.last = turn.then(() => mine)
    try {
      await unlessAborted(turn, signal)
      return signal.aborted ? undefined : await this.runNow(command, signal)
    } finally {
      done()
    }
  }

  async end(): Promise<void> {
    await this.shell?.stop('owner')
  }

  private async runNow(command: string, signal: AbortSignal): Promise<string | undefined> {
    const { timeoutMs, maxOutputChars } = this.limits
    const lost = await this.shell?.lost()
    if (lost !== undefined) this.shell = undefined
    if (signal.aborted) return undefined
    const shell = (this.shell ??= this.open())
    let result: PersistentResult
    try {
      result = await shell.run(command, { timeoutMs, signal, maxBytes: maxOutputChars * MAX_BYTES_OF_A_CHARACTER })
    } catch (error) {
      this.shell = undefined
      throw error
    }
    if (result.end !== undefined) this.shell = undefined
    if (result.end?.cause === 'owner') throw new HarnessError('shell: the command was ended, since its owner was unloaded', 'SHELL_CLOSED')
    if (result.end?.cause === 'abort') return undefined
    return this.textOf(result, lost)
  }

  private textOf({ text, isCut, status, end }: PersistentResult, lost: CommandEnd | undefined): string {
    const { timeoutMs, maxOutputChars } = this.limits
    const characters = Array.from(withoutLastBreak(text))
    const isLong = isCut || characters.length > maxOutputChars
    const printed = characters.slice(-maxOutputChars).join('')
    return [
      ...(lost === undefined ? [] : [`[the shell ${endOf(lost)} after the last call; this one started a fresh shell]`]),
      printed === '' ? '(no output)' : printed,
      ...(isLong ? [`[output truncated; the last ${maxOutputChars} characters are shown]`] : []),
      ...(end === undefined
        ? []
        : [`[${end.cause === 'timeout' ? `timed out after ${timeoutMs}ms` : `shell ${endOf(end)}`}; the next call starts a fresh shell]`]),
      ...(status === undefined || status === 0 ? [] : [`[exit code: ${status}]`]),
    ].join('\n')
  }
}

function endOf({ exitCode, signal }: CommandEnd): string {
  return signal === null ? `exited with code ${exitCode}` : `was killed by signal ${signal}`
}

/** Waits for a promise that never rejects, no longer than until the signal aborts. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  let abort!: () => void
  const aborted = new Promise<void>((resolve) => (abort = resolve))
  const follower = { abort: () => abort() }
  follow(signal, follower)
  try {
    await Promise.race([promise, aborted])
  } finally {
    unfollow(signal, follower)
  }
}
