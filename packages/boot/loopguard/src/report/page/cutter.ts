import { shortened } from '../shortened.ts'
import { html, json, visible } from './html.ts'
import { number } from '../numbers.ts'

/** No text is longer on a page, in bytes: nobody reads on there. */
const LONGEST = 20_000

/** Shortens texts so that all of them together fit into a page: the long ones, and no more than needed. */
export class Cutter {
  private readonly limit: number

  /** @param budget - in bytes of markup. */
  constructor(texts: readonly string[], budget: number) {
    const sizes = texts.map(sizeOf).toSorted((a, b) => a - b)
    this.limit = limitOf(sizes, budget)
  }

  cut(text: string): string {
    const bytes = sizeOf(text)
    if (bytes <= this.limit) return text
    const kept = text.slice(0, Math.floor((this.limit * text.length) / bytes)).replace(/[\ud800-\udbff]$/, '')
    return `${kept}… (+${number(text.length - kept.length)} more characters)`
  }
}

/** The most that each may have so that all together have no more than `budget`; what the short ones leave goes to the long ones. */
function limitOf(sizes: readonly number[], budget: number): number {
  let left = budget
  for (const [index, size] of sizes.entries()) {
    const share = left / (sizes.length - index)
    if (size > share) return Math.min(share, LONGEST)
    left -= size
  }
  return LONGEST
}

/** As a page holds it: as markup or as JSON, whichever is longer. */
function sizeOf(text: string): number {
  return Math.max(Buffer.byteLength(html`${text}`.text), Buffer.byteLength(json(visible(text)).text))
}

/** The first line of a text, at most so many characters of it. */
export function firstLine(text: string, most: number): string {
  const line = visible(text.trimStart().split('\n', 1)[0] ?? '')
  return shortened(line, most)
}
