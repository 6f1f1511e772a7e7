import type { Style } from './terminal.ts'

export type Lines = Pick<typeof import('./width.ts'), 'folded' | 'hanging'>

/** How long lines are broken: on a terminal alone, since what knows the width of every character takes long to load. */
export async function linesFor({ isTerminal }: Style): Promise<Lines | undefined> {
  return isTerminal ? import('./width.ts') : undefined
}
