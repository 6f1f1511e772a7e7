import { inspect } from 'node:util'
import { type Context, type Exporter, Logger, type Message } from '@deepseek-ai/cordis'

const ERROR_LEVEL = 0
/** A cap that cannot act, and a transcript that is not read whole, are worth a line, although nothing has failed. */
const LEVELS = { default: ERROR_LEVEL, budget: 2, replay: 2 }

/**
 * Shows what is logged at error level, and the warnings of a cap and of a replay; without an exporter both would be lost. While rows load it holds
 * everything back, since Cordis logs the faults that the audit then names.
 */
export class ErrorLog {
  private readonly write: (line: string) => void
  private held: Message[] | undefined = []

  constructor(write: (line: string) => void) {
    this.write = write
  }

  attach(ctx: Context): void {
    const exporter: Exporter = {
      colors: false,
      levels: LEVELS,
      maxLength: Infinity,
      formatters: { o: show, O: show },
      export: (message) => {
        if (this.held === undefined) this.show(exporter, message)
        else this.held.push(message)
      },
    }
    this.exporter = exporter
    ctx.logger.exporter(exporter)
  }

  private exporter: Exporter | undefined

  /** The load is over: shows what was held back, except what has been reported, and holds nothing back from now on. */
  release(reported: ReadonlySet<unknown>): void {
    const held = this.held ?? []
    this.held = undefined
    // A row is started again when a service that it needs comes back, and then fails with an error that only looks the same.
    const known = new Set([...reported].map(textOf))
    for (const message of held)
      if (this.exporter !== undefined && !message.args.some((arg) => known.has(textOf(arg)))) this.show(this.exporter, message)
  }

  private show(exporter: Exporter, message: Message): void {
    this.write(`${message.type === 'warn' ? 'warning' : 'error'} [${message.name}] ${Logger.format(exporter, message)}\n`)
  }
}

/** What tells errors apart for a reader; anything else is itself. */
function textOf(value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value
}

function show(value: unknown): string {
  return value instanceof Error ? `\n${value.stack ?? value.message}` : inspect(value, { depth: 4, breakLength: Infinity })
}
