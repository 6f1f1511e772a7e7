import { masked } from './mask.ts'
import { sha256 } from './sha256.ts'

/** What a call came to, as the model reads it. */
export interface Outcome {
  readonly isError: boolean
  readonly text: string
}

/**
 * A digest (SHA-256, 64 hexadecimal digits) that two outcomes share if they are equal but for what is volatile: timestamps, UUIDs,
 * hexadecimal ids, measured durations, and in errors every run of digits. docs/evidence.md shows the expressions.
 *
 * @param mask - `false` compares the texts as they are.
 */
export function outcomeIdentity({ isError, text }: Outcome, mask = true): string {
  const digest = sha256().update(isError ? '!' : '=')
  if (!mask) return digest.update(text).digest('hex')
  for (const piece of masked(text, isError)) digest.update(piece)
  return digest.digest('hex')
}
