// What a host says aloud: everything at warning level or above, independent of its logger's threshold.

interface LoggedMessage {
  readonly type: string
  readonly name: string
  readonly args: readonly unknown[]
}

interface LoggingContext {
  readonly logger: { exporter(exporter: { levels: Record<string, number>; export(message: LoggedMessage): void }): unknown }
}

export class Complaints {
  readonly lines: string[] = []

  constructor(ctx: LoggingContext) {
    ctx.logger.exporter({
      levels: { default: 2 },
      export: (message) => {
        if (message.type === 'error' || message.type === 'warn') this.lines.push(`${message.name}: ${message.args.map(show).join(' ')}`)
      },
    })
  }
}

function show(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
}
