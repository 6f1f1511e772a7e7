import type { Command, Option } from 'commander'

/** An option, as far as a shell completes it. */
export interface Flag {
  /** With its dashes; the short form first, where there is one. */
  readonly names: readonly string[]
  readonly description: string
  /** What its value is called, if it takes one. */
  readonly value: string | undefined
  readonly choices: readonly string[]
}

interface Verb {
  readonly name: string
  readonly description: string
  readonly flags: readonly Flag[]
  /** What its argument may be; where that is empty, a file. */
  readonly choices: readonly string[]
}

export interface Vocabulary {
  /** The name of the command itself. */
  readonly program: string
  readonly flags: readonly Flag[]
  readonly verbs: readonly Verb[]
}

/** What can be typed, as the program knows it when this is called. */
export function vocabularyOf(program: Command): Vocabulary {
  const help = program.createHelp()
  const flags = (command: Command): Flag[] => help.visibleOptions(command).map(flagOf)
  const names = help.visibleCommands(program).map((command) => command.name())
  const verbs = help.visibleCommands(program).map((command) => ({
    name: command.name(),
    description: command.description(),
    flags: flags(command),
    choices: command.name() === 'help' ? names.filter((name) => name !== 'help') : (command.registeredArguments[0]?.argChoices ?? []),
  }))
  return { program: program.name(), flags: flags(program), verbs }
}

function flagOf({ flags, short, long, description, argChoices }: Option): Flag {
  return {
    names: [short, long].filter((name) => name !== undefined),
    description,
    value: /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1],
    choices: argChoices ?? [],
  }
}

/** Whether a value is the path of something. */
export function isPath(value: string): boolean {
  return ['file', 'folder'].some((what) => value.includes(what))
}
