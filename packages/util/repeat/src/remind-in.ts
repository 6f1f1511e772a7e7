import { type RepeatConfig, settingsOf } from './config.ts'
import { Fold, type Reading, type Teller } from './fold.ts'
import { Folds } from './folds.ts'
import { isRepeatReminder } from './text.ts'
import { trackerWith } from './tracker.ts'

/**
 * The messages with each reminder that is due, after the last result of its step; none while a step has no result. Reminders that are among
 * them already, wherever they stand, are taken out and told anew.
 *
 * Pure and idempotent, and the request of a later step begins with that of an earlier one. A list that has grown since the last fold under
 * the same `config`, with the same `read`, costs what is new: so neither a message nor the configuration may change once it was handed over.
 *
 * @param messages - whole steps: the results of all calls of a step, or none of them.
 * @param read - must read what `make` made as a message of the user.
 * @throws TypeError `REPEAT_TOOL_REMINDER_CONFIG` that lists every fault of `config`, one a line; and what `read` and `make` throw. A call
 * whose arguments cannot be read is no fault, and ends the run.
 */
export function remindIn<M>(config: RepeatConfig, messages: readonly M[], read: (message: M) => Reading, make: (text: string) => M): M[] {
  return foldIn(memoryOf(config) as Memory<M>, messages, read, make)
}

/** The messages, told anew by the teller of the memory. */
export function foldIn<M>(
  { teller, folds }: Memory<M>,
  messages: readonly M[],
  read: (message: M) => Reading,
  make: (text: string) => M,
): M[] {
  const fold = folds.take(messages, read) ?? new Fold(teller, read)
  fold.extendTo(messages)
  const list = fold.tell(make)
  folds.keep(fold)
  return list
}

/** The lists that were read under one configuration. */
export interface Memory<M> {
  readonly teller: Teller
  readonly folds: Folds<M>
}

const memories = new WeakMap<RepeatConfig, Memory<unknown>>()

function memoryOf(config: RepeatConfig): Memory<unknown> {
  const known = memories.get(config)
  if (known !== undefined) return known
  const made = { teller: { ...trackerWith(settingsOf(config)), isOwn: isRepeatReminder }, folds: new Folds<unknown>() }
  memories.set(config, made)
  return made
}
