import type { LoopBehaviour } from './behaviours.ts'
import type { Loop } from './loop.ts'

/** What the run found, by loop and behaviour: it holds, or the reason why it cannot be asked. */
export type LoopFindings = ReadonlyMap<Loop, ReadonlyMap<string, 'yes' | { readonly lacks: string }>>

/** A row for each loop, a column for each behaviour, and under it what cannot be asked. */
export function loopTable(behaviours: readonly LoopBehaviour[], findings: LoopFindings): string {
  const notes: string[] = []
  const noted = (note: string): string => {
    if (!notes.includes(note)) notes.push(note)
    return `n/a (${String.fromCodePoint(97 + notes.indexOf(note))})`
  }
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rows = [...findings].map(([loop, found]) =>
    row([
      loop.title,
      ...behaviours.map(({ id }) => {
        const finding = found.get(id)
        return typeof finding === 'object' ? noted(finding.lacks) : (finding ?? '?')
      }),
    ]),
  )
  const head = [row(['loop', ...behaviours.map(({ says }) => says)]), row(['---', ...behaviours.map(() => '---')])]
  return [...head, ...rows, '', ...notes.map((note, index) => `- (${String.fromCodePoint(97 + index)}) ${note}.`), ''].join('\n')
}
