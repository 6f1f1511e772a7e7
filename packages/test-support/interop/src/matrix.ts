import type { Pairing } from './pairings.ts'
import type { Behaviour } from './stage.ts'

/** What the run found, by pairing and behaviour. `why` says what happens where the behaviour does not hold. */
export interface Finding {
  readonly mark: 'yes' | 'no' | 'n/a'
  readonly why?: string
}

export type Findings = ReadonlyMap<Pairing, ReadonlyMap<string, Finding>>

/** One table for each guard, behaviour by pairing, and under it what differs. */
export function matrix(behaviours: readonly Behaviour[], findings: Findings): string {
  const guards = [...new Set(behaviours.map((behaviour) => behaviour.guard))]
  const notes: string[] = []
  const tables = guards.map((guard) => {
    const heading = `## ${guard === 'both' ? 'Both guards' : guard === 'invariants' ? 'Invariants' : `\`${guard}\``}`
    return [
      heading,
      '',
      ...table(
        behaviours.filter((one) => one.guard === guard),
        findings,
        notes,
      ),
      '',
    ].join('\n')
  })
  return [...tables, '## What differs', '', ...notes.map((note, index) => `${index + 1}. ${note}`), ''].join('\n')
}

function table(behaviours: readonly Behaviour[], findings: Findings, notes: string[]): string[] {
  const columns = [...findings.keys()]
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    row(['it', ...columns.map(({ subject, host }) => `${subject.title} on ${host.title}`)]),
    row(['---', ...columns.map(() => '---')]),
    ...behaviours.map(({ id, says }) => row([says, ...columns.map((column) => cell(findings.get(column)?.get(id), notes))])),
  ]
}

function cell(finding: Finding | undefined, notes: string[]): string {
  if (finding === undefined) return '?'
  if (finding.why === undefined) return finding.mark
  if (!notes.includes(finding.why)) notes.push(finding.why)
  return `${finding.mark} (${notes.indexOf(finding.why) + 1})`
}
