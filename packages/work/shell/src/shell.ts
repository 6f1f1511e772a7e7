import { type Context, Service } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { type Bus, busOf, emitContained } from '@loopguard/cordis-internals'
import { BackgroundCommand } from './background.ts'
import { Captured } from './captured.ts'
import { Command, type CommandOptions } from './command.ts'
import { Config } from './config.ts'
import { environmentFor } from './environment.ts'
import { NEVER_RAN, resultOf } from './foreground.ts'
import { type Holding, Holdings } from './holdings.ts'
import { PersistentShell } from './persistent-shell.ts'
import { resolveRequest, workdirOf } from './request.ts'
import { Spill, SpillFolder } from './spill.ts'
import type { ShellProcess, ShellRequest, ShellResult, ShellSpec, Truncation } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    shell: Shell
  }

  interface Events {
    /** A bash was started. `pid` is that of the leader, and the number of its process group. @mode emit; listeners are contained. */
    'shell/spawn'(event: { readonly pid: number }): void
    /** A bash has ended, and its group with it. @mode emit; listeners are contained. */
    'shell/end'(event: { readonly pid: number }): void
  }
}

const FOREGROUND: Pick<CommandOptions, 'stdio' | 'rest'> = { stdio: ['ignore', 'pipe', 'pipe'], rest: 'kill' }
const BACKGROUND: Pick<CommandOptions, 'stdio' | 'rest'> = { stdio: ['ignore', 'pipe', 'pipe'], rest: 'await' }

/**
 * `ctx.shell`: runs commands with bash, each in a process group of its own that nothing outlives: not the command, not its owner, not
 * this service, not the process.
 */
export class Shell extends Service {
  static readonly Config: z<Partial<Config>, Config> = Config

  /** As configured, with the defaults filled in. */
  readonly limits: Config
  private readonly holdings = new Holdings()
  private readonly folder = new SpillFolder()
  private readonly bus: Bus

  constructor(ctx: Context, config: Config) {
    super(ctx, 'shell')
    this.limits = Object.freeze(config)
    this.bus = busOf(ctx)
    ctx.effect(
      () => async () => {
        await this.holdings.close()
        this.folder.remove()
      },
      'ctx.shell: what runs',
    )
  }

  /**
   * Fills in defaults, clamps the timeout, checks the folder.
   * @throws HarnessError `BAD_COMMAND`, `BAD_WORKDIR`; RangeError `TIMEOUT_OUT_OF_RANGE`.
   */
  resolve(request: ShellRequest): ShellSpec {
    return resolveRequest(request, this.limits)
  }

  /**
   * Runs a command to its end. What it exits with is a result; so are its timeout and its abort.
   * Rejects as {@link resolve} throws, with `SHELL_SPAWN_FAILED`, and with `SHELL_CLOSED` when its owner or the service is unloaded.
   */
  async run(request: ShellRequest): Promise<ShellResult> {
    const spec = this.resolve(request)
    if (spec.signal?.aborted === true) return NEVER_RAN
    const holding = this.holdings.of(spec.owner ?? this.ctx)
    const streams = [this.capture(holding, 'stdout'), this.capture(holding, 'stderr')] as const
    const command = this.spawn(spec, holding, { ...FOREGROUND, outputs: streams.map((stream) => stream.input()) })
    try {
      return await resultOf(command, spec, streams)
    } finally {
      for (const stream of streams) stream.close()
    }
  }

  /**
   * Starts a command in the background. Neither a timeout nor the signal of the request ends it.
   * @throws as {@link run} rejects; what the system says later rejects `done`.
   */
  start(request: ShellRequest): ShellProcess {
    const spec = this.resolve(request)
    const holding = this.holdings.of(spec.owner ?? this.ctx)
    const output = this.capture(holding, 'output')
    const command = this.spawn(spec, holding, { ...BACKGROUND, outputs: [output.input(), output.input()] })
    void command.done.finally(() => output.close()).catch(() => {})
    return new BackgroundCommand(command, output)
  }

  /**
   * A shell that runs one command after another, for `persistent_bash`.
   * @throws HarnessError `BAD_WORKDIR`, `SHELL_CLOSED`, `SHELL_SPAWN_FAILED`
   * @internal
   */
  open(owner: Context, cwd: string | undefined = this.limits.cwd): PersistentShell {
    const { graceMs, env } = this.limits
    const holding = this.holdings.of(owner)
    const shell = new PersistentShell({ cwd: workdirOf(undefined, cwd), env: environmentFor(env), graceMs })
    this.hold(shell.command, holding)
    return shell
  }

  private spawn(spec: ShellSpec, holding: Holding, options: Pick<CommandOptions, 'stdio' | 'rest' | 'outputs'>): Command {
    const { graceMs, env } = this.limits
    const command = new Command({ args: ['-c', spec.command], cwd: spec.workdir, env: environmentFor(env), graceMs, ...options })
    this.hold(command, holding)
    return command
  }

  private hold(command: Command, holding: Holding): void {
    const { pid } = command
    holding.commands.add(command)
    if (pid !== undefined) emitContained(this.bus, null, 'shell/spawn', [{ pid }])
    const over = (): void => {
      holding.commands.delete(command)
      if (pid !== undefined) emitContained(this.bus, null, 'shell/end', [{ pid }])
    }
    void command.done.then(over, over)
  }

  private capture(holding: Holding, stream: Truncation['stream']): Captured {
    const { maxOutputBytes, maxSpillBytes } = this.limits
    return new Captured(maxOutputBytes, () => {
      const spill = new Spill(this.folder, stream, maxSpillBytes)
      holding.spills.add(spill)
      return spill
    })
  }
}
