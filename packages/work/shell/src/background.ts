import type { Captured } from './captured.ts'
import type { Command } from './command.ts'
import type { OutputSlice, ShellEnd, ShellProcess } from './types.ts'

/** A command in the background, as its starter sees it. */
export class BackgroundCommand implements ShellProcess {
  readonly done: Promise<ShellEnd & { readonly killed: boolean }>
  private readonly command: Command
  private readonly captured: Captured
  private end: ShellEnd | undefined
  private hasEnded = false
  private readTo = 0

  constructor(command: Command, captured: Captured) {
    this.command = command
    this.captured = captured
    this.done = this.run()
    this.done.catch(() => {})
  }

  get status(): ShellProcess['status'] {
    if (this.hasEnded) return 'exited'
    return this.command.isStopping ? 'stopping' : 'running'
  }

  get exitCode(): number | null {
    return this.end?.exitCode ?? null
  }

  get signal(): NodeJS.Signals | null {
    return this.end?.signal ?? null
  }

  readOutput(from: number = this.readTo): OutputSlice {
    const slice = this.captured.since(from)
    this.readTo = slice.end
    return slice
  }

  kill(): void {
    this.command.stop('kill')
  }

  private async run(): Promise<ShellEnd & { readonly killed: boolean }> {
    try {
      const { exitCode, signal, cause } = await this.command.done
      this.end = { exitCode, signal }
      return Object.freeze({ exitCode, signal, killed: cause !== undefined })
    } finally {
      this.hasEnded = true
    }
  }
}
