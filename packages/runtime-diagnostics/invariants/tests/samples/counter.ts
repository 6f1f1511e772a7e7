import { type Context, Service } from '@deepseek-ai/cordis'

declare module '@deepseek-ai/cordis' {
  interface Context {
    counter: Counter
  }
  interface Events {
    'counter/changed'(value: number): void
  }
}

/** Promises to count in steps of one. */
export class Counter extends Service {
  value = 0

  constructor(ctx: Context) {
    super(ctx, 'counter')
  }

  add(step = 1): void {
    this.value += step
    this.ctx.emit('counter/changed', this.value)
  }
}
