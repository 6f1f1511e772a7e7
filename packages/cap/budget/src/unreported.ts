import type { Logger } from '@deepseek-ai/cordis'
import type { SessionEvent } from '@loopguard/session'
import type { SetLimit } from './limits.ts'

/** Says, once a model, that it reports no usage: a limit of tokens is inert there. */
export class Unreported {
  private readonly keys: string
  private readonly log: Logger
  private readonly known = new Set<string>()

  constructor(limits: readonly SetLimit[], log: Logger) {
    this.keys = limits.flatMap(({ limit, counts }) => (counts === 'tokens' ? [`\`${limit}\``] : [])).join(' and ')
    this.log = log
  }

  /** An answer that was broken off may have come to no report. */
  hear({ message, usage, interrupted }: SessionEvent<'assistant/message'>['data']): void {
    if (this.keys === '' || usage !== undefined || interrupted === true) return
    const { provider, model } = message.source
    const id = JSON.stringify([provider, model])
    if (this.known.has(id)) return
    this.known.add(id)
    this.log.warn('the provider %s reports no usage for the model %s: its tokens do not count for %s', provider, model, this.keys)
  }
}
