import { type Context, type Message as LogMessage, Logger } from '@deepseek-ai/cordis'

/** One message that was logged at error level. */
export interface LoggedError {
  /** Name of the logger, mostly the plugin. */
  readonly name: string
  readonly text: string
  /** The first error among what was logged. */
  readonly error: unknown
}

const ERROR_LEVEL = 0

/** Collects what is logged at error level, until the fiber of `ctx` goes. The returned array is live. */
export function captureErrors(ctx: Context): readonly LoggedError[] {
  const logged: LoggedError[] = []
  const exporter = {
    colors: false as const,
    levels: { default: ERROR_LEVEL },
    export(message: LogMessage): void {
      const error: unknown = message.args.find((arg) => arg instanceof Error)
      logged.push({ name: message.name, text: Logger.format(exporter, message), error })
    },
  }
  ctx.logger.exporter(exporter)
  return logged
}
