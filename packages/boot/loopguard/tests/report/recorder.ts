import { createRepeatTracker, type RepeatConfig } from '@loopguard/repeat'

export interface MadeCall {
  readonly name: string
  readonly args?: unknown
  /** The model's text, in place of `args`. */
  readonly raw?: string
  readonly ms?: number
  readonly result?: string
  readonly isError?: boolean
  readonly code?: string
  /** The model goes on to the next call at once. */
  readonly isParallel?: boolean
}

interface MadeStep {
  readonly modelMs?: number
  readonly text?: string
  readonly input?: number
  readonly output?: number
  readonly calls?: readonly MadeCall[]
  /** A code: the first attempt failed with it. */
  readonly failed?: string
}

/** Writes the log of a session that never was, as the host would: with the reminders of a real guard, and with times of its own. */
export class Recorder {
  readonly events: { seq: number; time: number; type: string; data: unknown }[] = []
  private time: number
  private turn = 0
  private step = 0
  private ids = 0
  private readonly tracker
  private readonly agent = {}

  constructor(id: string, startedAt: number, model?: string, config: RepeatConfig = {}) {
    this.time = startedAt
    this.tracker = createRepeatTracker(config)
    this.log('session/start', { version: 1, id })
    if (model !== undefined) this.log('request/header', { provider: model.split('/')[0], model: model.split('/')[1] })
  }

  /** A person speaks, and a turn begins. */
  ask(text: string): this {
    this.turn++
    this.step = 0
    this.log('turn/start', { turn: this.turn })
    this.log('user/message', this.message([{ type: 'text', text }], { kind: 'user' }))
    this.tracker.reset(this.agent)
    return this
  }

  wait(ms: number): this {
    this.time += ms
    return this
  }

  answer({ modelMs = 700, text, input, output = 40, calls = [], failed }: MadeStep): this {
    const { turn } = this
    const step = ++this.step
    this.log('step/start', { turn, step })
    if (failed !== undefined) {
      this.time += modelMs
      this.log('request/failed', { turn, step, attempt: 1, failure: { message: failed, code: failed } })
    }
    this.time += modelMs
    const made = calls.map((call) => ({ ...call, id: `call_${++this.ids}`, arguments: call.raw ?? JSON.stringify(call.args ?? {}) }))
    const blocks = made.map(({ id, name, arguments: raw }) => ({ type: 'tool-call', id, name, arguments: raw }))
    this.log('assistant/message', {
      turn,
      step,
      message: {
        id: this.id(),
        role: 'assistant',
        content: [...(text === undefined ? [] : [{ type: 'text', text }]), ...blocks],
        source: {},
      },
      ...(input !== undefined && { usage: { inputTokens: input, outputTokens: output } }),
      durationMs: modelMs,
      firstTokenMs: Math.round(modelMs / 4),
    })
    this.run(made)
    this.log('step/end', { turn, step })
    return this
  }

  end(reason: object = { kind: 'completed' }): this {
    this.log('turn/end', { turn: this.turn, reason })
    return this
  }

  get jsonl(): string {
    return this.events.map((event) => `${JSON.stringify(event)}\n`).join('')
  }

  /** Calls one after the other, but for those that overlap with the next. */
  private run(made: readonly (MadeCall & { readonly id: string; readonly arguments: string })[]): void {
    const contexts: object[] = []
    let until = this.time
    const results = made.map((call) => {
      const { id, name, arguments: raw, ms = 40, isParallel = false } = call
      this.log('tool/call', { turn: this.turn, step: this.step, callId: id, name, arguments: raw })
      until = Math.max(until, this.time + ms)
      if (!isParallel) this.time = until
      return call
    })
    this.time = until
    for (const { id, name, arguments: raw, ms = 40, result = 'ok', isError = false, code } of results) {
      const outcome = { isError: isError || code !== undefined, text: result }
      const due = this.tracker.observe(this.agent, name, JSON.parse(raw === '' || !isJson(raw) ? JSON.stringify(raw) : raw), outcome)
      const context = due && this.message([{ type: 'text', text: due }], { kind: 'plugin', plugin: 'repeat-tool-reminder' })
      if (context) contexts.push(context)
      const block = { type: 'tool-result', toolCallId: id, content: [{ type: 'text', text: result }], isError: outcome.isError }
      this.log('tool/result', {
        turn: this.turn,
        step: this.step,
        message: this.message([block], { kind: 'tool', callId: id }),
        ...(code !== undefined && { error: { name: 'ToolError', code } }),
        durationMs: ms,
        ...(context && { contextIds: [(context as { id: string }).id] }),
      })
    }
    for (const context of contexts) this.log('user/message', context)
  }

  private message(content: readonly object[], source: object): object {
    return { id: this.id(), role: 'user', content, source }
  }

  private id(): string {
    return `m${++this.ids}`
  }

  private log(type: string, data: unknown): void {
    this.events.push({ seq: this.events.length, time: this.time, type, data })
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
