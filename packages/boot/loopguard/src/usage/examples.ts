import type { Command } from 'commander'

/** A line to type, and what it does. */
export type Example = readonly [line: string, does: string]

/** Puts examples at the end of the command's `--help`; each command has some. */
export function withExamples(command: Command, ...examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([line]) => line.length))
  const lines = examples.map(([line, does]) => `  ${line.padEnd(width)}  ${does}\n`).join('')
  return command.addHelpText('after', `\nExamples:\n${lines}`)
}
