import type { Context, Fiber } from '@deepseek-ai/cordis'
import { HarnessError } from '@loopguard/kit'
import type { Command } from './command.ts'
import type { Spill } from './spill.ts'

/** What one owner has: its commands, and the files of their output. */
export class Holding {
  readonly commands: Set<Command> = new Set()
  readonly spills: Set<Spill> = new Set()

  /** Ends all of it; settles when no process is left. */
  async end(): Promise<void> {
    for (const command of this.commands) command.stop('owner')
    await Promise.allSettled([...this.commands].map(({ done }) => done))
    for (const spill of this.spills) spill.remove()
  }
}

/** What every owner has. It goes with the owner's fiber, or with the service. */
export class Holdings {
  private readonly byFiber = new Map<Fiber, { readonly holding: Holding; readonly release: () => unknown }>()
  private isClosed = false

  /** @throws HarnessError `SHELL_CLOSED` when the service, or the owner, is going or gone. */
  of(owner: Context): Holding {
    if (this.isClosed) throw closed('the service is unloaded')
    const { fiber } = owner
    const found = this.byFiber.get(fiber)
    if (found !== undefined) return found.holding
    const holding = new Holding()
    let release: () => unknown
    try {
      release = owner.effect(
        () => async () => {
          await holding.end()
          this.byFiber.delete(fiber)
        },
        'ctx.shell: commands and their output',
      )
    } catch (cause) {
      throw closed(`"${fiber.name}", which is to own the command, is unloaded`, cause)
    }
    this.byFiber.set(fiber, { holding, release })
    return holding
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all(Array.from(this.byFiber.values(), ({ release }) => release()))
  }
}

function closed(why: string, cause?: unknown): HarnessError {
  return new HarnessError(`shell: ${why}: it runs nothing more`, 'SHELL_CLOSED', cause === undefined ? undefined : { cause })
}
