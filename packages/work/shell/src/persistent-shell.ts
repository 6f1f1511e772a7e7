import type { Readable, Writable } from 'node:stream'
import { Characters } from './characters.ts'
import { Command, type CommandEnd, type StopCause } from './command.ts'
import { endUnder } from './foreground.ts'
import { Tail } from './tail.ts'
import { pipesRead } from './waiting.ts'

/** Descriptor of the shell for the status of its commands; they themselves do not see it. */
const STATUS = 199

/** Both streams are one, as on a terminal; the status goes where no command can print. */
const SET_UP = `exec ${STATUS}>&3 3>&- 2>&1\n`

export interface PersistentShellOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly graceMs: number
}

export interface PersistentCall {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** How many bytes of the output are kept, from its end. */
  readonly maxBytes: number
}

/** What came of one command. */
export interface PersistentResult {
  readonly text: string
  /** The beginning of the text is missing. */
  readonly isCut: boolean
  /** Of the command; `undefined` when the shell has ended with it. */
  readonly status: number | undefined
  readonly end: CommandEnd | undefined
}

/**
 * A bash that runs one command after another, each by `eval` with no input: what a command does to the shell, lasts. Not a terminal: its
 * commands come through one pipe, its output through another, and the status of each command through a third.
 */
export class PersistentShell {
  readonly command: Command
  private output = new Tail(0)
  private partial = ''
  private report: (status: number) => void = () => {}

  /** @throws HarnessError `SHELL_SPAWN_FAILED` for what the system refuses at once. */
  constructor({ cwd, env, graceMs }: PersistentShellOptions) {
    const characters = new Characters()
    const out = { take: (chunk: Buffer) => this.output.add(characters.take(chunk)), end: () => this.output.add(characters.end()) }
    this.command = new Command({
      args: ['--noprofile', '--norc'],
      cwd,
      env,
      graceMs,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      rest: 'kill',
      outputs: [out, NOTHING],
    })
    this.write(SET_UP)
    const statuses = this.command.child.stdio?.[3] as Readable | null | undefined
    statuses?.setEncoding('utf8').on('data', (text: string) => this.takeStatus(text))
  }

  /** How it has ended, once all of it is gone; `undefined` while it runs. */
  async lost(): Promise<CommandEnd | undefined> {
    const { exitCode, signalCode } = this.command.child
    return exitCode === null && signalCode === null ? undefined : this.command.done
  }

  /** Runs one command. The caller sees to it that calls follow one another. Rejects with `SHELL_SPAWN_FAILED`. */
  async run(command: string, { timeoutMs, signal, maxBytes }: PersistentCall): Promise<PersistentResult> {
    // What background children have printed since the last call comes first.
    const before = this.output
    this.output = new Tail(maxBytes)
    this.output.add(before.bytes)
    const reported = new Promise<number>((resolve) => (this.report = resolve))
    this.write(`eval ${quoted(command)} </dev/null ${STATUS}>&-\nbuiltin printf '%s\\n' "$?" >&${STATUS}\n`)
    const outcome = await endUnder(this.command, timeoutMs, signal, reported)
    // All that the command has printed was in the pipe before its status was.
    await pipesRead()
    const { text, cut } = this.output.since(0)
    this.output = new Tail(maxBytes)
    return {
      text,
      isCut: cut,
      ...(typeof outcome === 'number' ? { status: outcome, end: undefined } : { status: undefined, end: outcome }),
    }
  }

  async stop(cause: StopCause): Promise<void> {
    this.command.stop(cause)
    await this.command.done.catch(() => {})
  }

  private write(script: string): void {
    ;(this.command.child.stdin as Writable | null | undefined)?.write(script)
  }

  private takeStatus(text: string): void {
    const lines = (this.partial + text).split('\n')
    this.partial = lines.pop() ?? ''
    for (const line of lines) this.report(Number(line))
  }
}

const NOTHING = { take: () => {}, end: () => {} }

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
