import { type ChildProcess, spawn } from 'node:child_process'
import { HarnessError, messageOf } from '@loopguard/kit'
import { ProcessGroup } from './process-group.ts'
import type { ShellEnd } from './types.ts'
import { firstOf, pipesRead } from './waiting.ts'

/** Why a command was stopped; `owner`: its owner, or the service, is going. */
export type StopCause = 'timeout' | 'abort' | 'kill' | 'owner'

export interface CommandOptions {
  /** Arguments of bash. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly graceMs: number
  /** Descriptors of the child: the first three, and more. */
  readonly stdio: readonly ('ignore' | 'pipe')[]
  /** What becomes of processes of the group that outlive the leader: they are killed, or the command lasts as long as they do. */
  readonly rest: 'kill' | 'await'
  /** Takes what comes on standard output and standard error. */
  readonly outputs: readonly Input[]
}

interface Input {
  take(chunk: Buffer): void
  end(): void
}

export interface CommandEnd extends ShellEnd {
  /** The first cause of the end, when it was not the command itself. */
  readonly cause: StopCause | undefined
}

/** How long what is left of a group may still write after its leader has exited by itself: a `>(tee log)` say. */
const LINGER_MS = 100
/** How long the pipes are read, at least, once everything was killed. */
const DRAIN_MS = 100
/** How long a killed group may take to be gone: SIGKILL does not wait for what hangs in the kernel. */
const KILLED_MS = 1000

/**
 * One bash in a process group of its own. `done` settles when the leader has exited, nothing of the group is left, and its output is
 * read to the end. A descendant that left the group and holds a pipe delays that by `graceMs` at most.
 */
export class Command {
  readonly child: ChildProcess
  /** Rejects with `SHELL_SPAWN_FAILED` when there was never a process; the rejection may be left unhandled. */
  readonly done: Promise<CommandEnd>
  private readonly options: CommandOptions
  private readonly group: ProcessGroup | undefined
  private phase: 'running' | 'rest' | 'reading' | 'over' = 'running'
  private cause: StopCause | undefined
  private stoppedAt = 0
  private killedAt = Infinity
  private killTimer: NodeJS.Timeout | undefined
  private nudge: () => void = () => {}
  /** Somebody waits who does not care for what may still be printed. */
  private isHurried = false

  /** @throws HarnessError `SHELL_SPAWN_FAILED` for what the system refuses at once, a command that is too long say. */
  constructor(options: CommandOptions) {
    const { cwd, env, stdio, args, outputs } = options
    this.options = options
    try {
      this.child = spawn('bash', args, { cwd, env, stdio: [...stdio], detached: true })
    } catch (error) {
      throw spawnFailed(cwd, error)
    }
    const { child } = this
    this.group = child.pid === undefined ? undefined : new ProcessGroup(child.pid)
    for (const [index, stream] of [child.stdout, child.stderr].entries()) {
      stream?.on('data', (chunk: Buffer) => outputs[index]?.take(chunk))
    }
    for (const stream of streamsOf(child)) stream.on('error', () => {})
    this.done = this.run()
    this.done.catch(() => {})
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  get isStopping(): boolean {
    return this.cause !== undefined
  }

  /** SIGTERM to the group, SIGKILL after `graceMs`. Of several causes the first counts, and the end of the command is one. */
  stop(cause: StopCause): void {
    if (this.phase === 'over') return
    const isOver = this.phase === 'reading' || (this.phase === 'rest' && this.options.rest === 'kill')
    if (!isOver && this.cause === undefined) {
      this.cause = cause
      this.stoppedAt = performance.now()
      this.group?.signal('SIGTERM')
      this.killTimer = setTimeout(() => this.kill(), this.options.graceMs)
    }
    this.isHurried ||= isOver
    if (isOver || this.phase === 'rest') this.nudge()
  }

  private kill(): void {
    this.killedAt = performance.now()
    this.group?.signal('SIGKILL')
  }

  private async run(): Promise<CommandEnd> {
    const { child, options } = this
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    try {
      const [exitCode, signal] = await exitOf(child, options.cwd)
      const exitedAt = performance.now()
      this.phase = 'rest'
      await this.restGone(closed)
      this.phase = 'reading'
      await this.outputRead(closed, this.cause === undefined ? exitedAt : this.stoppedAt)
      return { exitCode, signal, cause: this.cause }
    } finally {
      this.phase = 'over'
      clearTimeout(this.killTimer)
      this.group?.end()
      for (const stream of streamsOf(child)) stream.destroy()
      for (const output of options.outputs) output.end()
    }
  }

  /** Waits for the processes of the group that the leader has left: until they end, or are killed. */
  private async restGone(closed: Promise<void>): Promise<void> {
    if (this.cause === undefined && this.options.rest === 'kill') {
      await firstOf(LINGER_MS, closed, this.nudged())
      this.kill()
    }
    for (let wait = 10; this.group?.hasLiveMember() === true; wait *= 2) {
      if (performance.now() > this.killedAt + KILLED_MS) return
      const isWaiting = this.cause === undefined && this.killedAt === Infinity
      await (isWaiting ? firstOf(Math.min(wait, 1000), this.nudged()) : firstOf(Math.min(wait, 50)))
    }
  }

  /** Reads what the pipes hold. Somebody who has left the group may keep them open. */
  private async outputRead(closed: Promise<void>, since: number): Promise<void> {
    if (!this.isHurried) await firstOf(Math.max(DRAIN_MS, since + this.options.graceMs - performance.now()), closed, this.nudged())
    await pipesRead()
  }

  /** Settles with the next stop that does not wait for the leader. */
  private nudged(): Promise<void> {
    return new Promise((resolve) => (this.nudge = resolve))
  }
}

type Stream = NonNullable<ChildProcess['stdio'][number]>

/** Its pipes; none when the system had no descriptors left to make them of. */
function streamsOf(child: ChildProcess): Stream[] {
  const streams = (child.stdio as ChildProcess['stdio'] | undefined) ?? []
  return streams.flatMap((stream) => stream ?? [])
}

function exitOf(child: ChildProcess, cwd: string): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => resolve([code, signal]))
    child.on('error', (error) => {
      // What comes later, a signal that could not be sent say, is no end.
      if (child.pid === undefined) reject(spawnFailed(cwd, error))
    })
  })
}

function spawnFailed(cwd: string, error: unknown): HarnessError {
  return new HarnessError(`shell: bash could not be started in ${cwd}: ${messageOf(error)}`, 'SHELL_SPAWN_FAILED', { cause: error })
}
