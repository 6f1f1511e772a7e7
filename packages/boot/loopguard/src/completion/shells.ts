import type { Command } from 'commander'
import { bashCompletion } from './bash.ts'
import type { Shell } from './command.ts'
import { fishCompletion } from './fish.ts'
import { vocabularyOf } from './verbs.ts'
import { zshCompletion } from './zsh.ts'

/** What a shell needs to complete every command of the program. */
export function completionOf(shell: Shell, program: Command): string {
  const scriptOf = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }[shell]
  return scriptOf(vocabularyOf(program))
}
