import { type FailureConfig, isReminder, type RepeatConfig } from '@loopguard/repeat'

/** A call of the model. The tools are the same in every loop: see `tools.ts`. */
export interface Call {
  readonly name: string
  /** The arguments, as the model writes them. */
  readonly json: string
}

/** What the model does in each step of a turn: calls, or a text, with which the turn ends. */
export type Turn = readonly (readonly Call[] | string)[]

/** What was seen of a conversation. */
interface Seen {
  /** How many reminders each request held. */
  readonly reminders: readonly number[]
  /** The last request, as text. */
  readonly last: string
  /** How many reminders are in what the loop keeps of the conversation. */
  readonly kept: number
}

/** How the guards are set. */
export interface Guards {
  readonly config?: RepeatConfig
  /** With it, the reminder of repeated failures is there too. */
  readonly failures?: FailureConfig & { readonly errors: string }
}

/** A loop that is not ours, with our guards in it: one row of the matrix. */
export interface Loop {
  readonly title: string
  /** What the loop cannot be asked for, by behaviour, and why. */
  readonly lacks: Readonly<Record<string, string>>
  /** One conversation. The user opens each turn. */
  run(turns: readonly Turn[], guards?: Guards): Promise<Seen>
}

export const remindersAmong = (texts: readonly string[]): number => texts.filter(isReminder).length

/** The texts of a message: itself, or its parts. */
export function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  return Array.isArray(content)
    ? (content as readonly { text?: unknown }[]).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    : []
}
