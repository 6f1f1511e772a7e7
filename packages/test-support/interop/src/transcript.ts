// What the model reads, a line for each thing, in one vocabulary for all hosts.
import type { Message, TextBlock } from './host.ts'

/** Blocks that only some messages hold. */
interface Block extends TextBlock {
  readonly name?: string
  readonly content?: readonly TextBlock[]
  readonly isError?: boolean
}

const GENTLE = 'You are repeating the exact same tool call with identical arguments.'
const REMINDER = 'repeat-tool-reminder'

export function textOf(content: readonly TextBlock[]): string {
  return content.map((block) => block.text ?? '').join('')
}

/** The number of repeats that a detailed reminder names, or `gentle` for the first. */
export function reminderKind(message: Message): string | undefined {
  if (message.source.kind !== 'plugin' || message.source.plugin !== REMINDER) return undefined
  const text = textOf(message.content)
  return text.startsWith(GENTLE) ? 'gentle' : (/^- consecutive_calls: (\d+)$/m.exec(text)?.[1] ?? `unreadable: ${text}`)
}

/** `call <tool>`, `result <text>`, `error <text>`, `reminder <gentle or count>`, `context <plugin>: <text>`, `user: <text>`. */
export function transcript(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => {
    const kind = reminderKind(message)
    if (kind !== undefined) return [`reminder ${kind}`]
    return message.content.flatMap((block) => lines(message, block))
  })
}

function lines(message: Message, block: Block): string[] {
  switch (block.type) {
    case 'tool-call':
      return [`call ${block.name}`]
    case 'tool-result':
      return [`${block.isError === true ? 'error' : 'result'} ${textOf(block.content ?? [])}`]
    default:
      return message.source.kind === 'plugin'
        ? [`context ${message.source.plugin}: ${block.text}`]
        : [`${message.source.kind}: ${block.text}`]
  }
}

/** The reminders alone, in order. */
export function reminders(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith('reminder ')).map((line) => line.slice('reminder '.length))
}
