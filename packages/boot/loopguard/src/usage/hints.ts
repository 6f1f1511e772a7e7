import type { Command } from 'commander'

/** After a usage error: where the help is, in place of the whole of it. For a program to which every command has been added. */
export function pointToHelp(program: Command): void {
  program.showHelpAfterError(hintOf(program.name()))
  for (const command of program.commands) command.showHelpAfterError(hintOf(`${program.name()} ${command.name()}`))
}

function hintOf(command: string): string {
  return `(${command} --help shows how it is used)`
}
