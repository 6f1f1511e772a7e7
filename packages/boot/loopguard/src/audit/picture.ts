import type { AuditedCall } from './rules.ts'

/** Letters that have a small one, and that do not look like one another. */
const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZΓΔΘΛΞΠΣΦΨΩБДЖИЛЦЧЩЭЮЯ')
const NO_LETTER = { new: '*', same: '·' }

/**
 * A conversation on one line: a letter for each distinct call, small when the result is the one that the call had before, `!` behind one
 * that failed, `|` where the user spoke, `^` behind one after which a guard acted.
 */
export class Picture {
  private readonly letters = new Map<string, string | undefined>()
  private readonly results = new Map<string, string>()
  /** What there is of it so far. */
  line = ''

  user(): void {
    this.line += '|'
  }

  call({ identity, result, outcome }: AuditedCall, acted: boolean): void {
    if (!this.letters.has(identity)) this.letters.set(identity, LETTERS[this.letters.size])
    const letter = this.letters.get(identity)
    const isSame = this.results.get(identity) === result
    this.results.set(identity, result)
    const mark = isSame ? (letter?.toLowerCase() ?? NO_LETTER.same) : (letter ?? NO_LETTER.new)
    this.line += `${mark}${outcome.isError ? '!' : ''}${acted ? '^' : ''}`
  }
}
