import type { Context } from '@deepseek-ai/cordis'

/** What a caller asks for. */
export interface ShellRequest {
  /** A script for `bash -c`. */
  readonly command: string
  /** A folder, relative to `cwd`. */
  readonly workdir?: string | undefined
  /** Where commands run that name no folder. Default: the configured `cwd`. */
  readonly cwd?: string | undefined
  /** Default and maximum are the service's. */
  readonly timeoutMs?: number | undefined
  /** Ends the command when it aborts. */
  readonly signal?: AbortSignal | undefined
  /** The command, and the files of its output, go with the fiber of this context. Default: that of the caller. */
  readonly owner?: Context | undefined
}

/** A request with everything filled in and checked. Frozen. */
export interface ShellSpec extends ShellRequest {
  /** Absolute. */
  readonly workdir: string
  readonly timeoutMs: number
}

/** A stream that was longer than a result may be. */
export interface Truncation {
  /** `output` is both streams of a command that was started in the background. */
  readonly stream: 'stdout' | 'stderr' | 'output'
  /** The file with the whole stream, from its beginning; it goes with the owner of the command. None when it could not be kept. */
  readonly file?: string
  /** The file ends after so many bytes; the stream went on. */
  readonly cutAt?: number
  /** Why there is no file. */
  readonly fault?: string
}

/** How a command ended. */
export interface ShellEnd {
  /** `null` when a signal ended it, and when it never ran. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ShellResult extends ShellEnd {
  /** The end of the stream, at most `maxOutputBytes`. */
  readonly stdout: string
  readonly stderr: string
  /** Its timeout was the first cause of its end. Excludes `aborted`. */
  readonly timedOut: boolean
  /** Its signal was the first cause of its end, or had aborted before; then it never ran. Excludes `timedOut`. */
  readonly aborted: boolean
  /** The streams that are not whole in this result. */
  readonly truncated: readonly Truncation[]
}

/** A piece of the output of a command in the background: both streams, in the order of arrival. */
export interface OutputSlice {
  readonly text: string
  /** Where the next slice begins, in bytes since the start of the output. */
  readonly end: number
  /** The slice lacks its beginning. */
  readonly truncated?: Truncation
}

/** A command that runs in the background. It has no timeout; its kill, or the end of its owner, ends it. */
export interface ShellProcess extends ShellEnd {
  /** `stopping` between a kill and the end of the last process of its group. */
  readonly status: 'running' | 'stopping' | 'exited'
  /** `killed` says that it was asked to stop before it ended. Rejects with `SHELL_SPAWN_FAILED` when it could not be started. */
  readonly done: Promise<ShellEnd & { readonly killed: boolean }>
  /** What has come since the last read, or since `from`; at most `maxOutputBytes`, the end of it. Never splits a character. */
  readOutput(from?: number): OutputSlice
  /** SIGTERM to the group, SIGKILL after `graceMs`. Returns at once; again is a no-op. */
  kill(): void
}
