import { isReminder } from '@loopguard/repeat'
import { Fields, textOf } from './fields.ts'
import { LogBuilder } from './log-builder.ts'
import type { Session } from './session.ts'

/**
 * What the events of a log say. They are taken as they come: a field that is missing or of another type is not recorded.
 *
 * @param isTorn - the last line of the file broke off.
 */
export function sessionOfLog(events: readonly unknown[], isTorn: boolean, notes: readonly string[]): Session {
  const read = events.map((event) => new Fields(event)).filter(isOfConversation)
  const times = read.map((event) => event.amount('time'))
  const isTimed = times.every((time) => time !== undefined) && times.length > 0
  const startedAt = isTimed ? times.reduce((least: number, time) => Math.min(least, time as number), Infinity) : undefined
  const builder = new LogBuilder(isTimed)
  for (const event of read) {
    builder.now = startedAt === undefined ? builder.now : (event.amount('time') as number) - startedAt
    // Without times every event that can be seen takes a place of its own.
    if (startedAt === undefined && PLACES.has(event.text('type') ?? '')) builder.now++
    READERS[event.text('type') ?? '']?.(event.at('data'), builder)
  }
  const torn = isTorn ? ['The last line breaks off: its writer was killed, or writes it now.'] : []
  return builder.build(startedAt, [...notes, ...torn])
}

/** What replaces an earlier message, a summary say, is no step of the conversation; a first line of another shape is no event. */
function isOfConversation(event: Fields): boolean {
  const op = event.text('surfaceOp')
  return event.text('type')?.includes('/') === true && (op === undefined ? !event.has('surfaceOp') : op === 'append')
}

const PLACES = new Set(['assistant/message', 'tool/call', 'request/failed'])

const READERS: Readonly<Record<string, (data: Fields, builder: LogBuilder) => void>> = {
  'session/start': (data, builder) => builder.start(data.text('id')),
  'turn/start': (data, builder) => builder.startTurn(data.amount('turn')),
  'turn/end': (data, builder) => builder.endTurn(reasonOf(data.at('reason'))),
  'step/start': (data, builder) => builder.startStep(data.amount('step')),
  'step/end': (_data, builder) => builder.endStep(),
  'request/header'(data, builder) {
    const header = data.has('header') ? data.at('header') : data
    builder.ask(header.text('provider'), header.text('model'))
  },
  'request/failed': (data, builder) => builder.failed(data.at('failure').text('code') ?? 'failed'),
  'assistant/message': (data, builder) => builder.answered(data.at('usage'), data.amount('durationMs')),
  'tool/call': (data, builder) => builder.called(data.text('callId') ?? '', data.text('name') ?? '', data.text('arguments') ?? ''),
  'tool/result'(data, builder) {
    const code = data.at('error').text('code')
    for (const block of data.at('message').items('content')) {
      const outcome = { isError: block.flag('isError'), text: textOf(block.items('content')) }
      builder.returned(block.text('toolCallId') ?? '', outcome, code, data.amount('durationMs'), data.texts('contextIds'))
    }
  },
  'user/message'(data, builder) {
    const text = textOf(data.items('content'))
    const kind = data.at('source').text('kind')
    const plugin = data.at('source').text('plugin')
    if (kind === 'plugin' && plugin !== undefined && isGuard(plugin)) builder.reminded(data.text('id'), plugin, text)
    else if ((kind ?? 'user') === 'user' && data.text('name') === undefined && !isReminder(text)) builder.heard()
  },
}

function isGuard(plugin: string): boolean {
  return plugin === 'repeat-tool-reminder' || plugin === 'repeated-failure-reminder'
}

/** `completed`, or with what stopped it: `aborted by limit maxTurnSteps`, `error SERVER`. */
function reasonOf(reason: Fields): string | undefined {
  const kind = reason.text('kind')
  const code = reason.at('error').text('code')
  if (code !== undefined) return `${kind} ${code}`
  const { by, limit } = { by: reason.at('reason').text('kind'), limit: reason.at('reason').text('limit') }
  if (by === undefined) return kind
  return limit === undefined ? `${kind} by ${by}` : `${kind} by ${by} ${limit}`
}
