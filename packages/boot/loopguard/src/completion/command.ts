import { Argument, type Command } from 'commander'
import type { Outlet } from '../show/outlet.ts'
import { withExamples } from '../usage/examples.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { vocabularyOf } from './verbs.ts'
import { zshCompletion } from './zsh.ts'

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

/** The command that prints what a shell needs to complete all commands of the program, also those that are added later. */
export function addCompletionCommand(program: Command, out: Outlet): void {
  const command = program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .description('print what a shell needs to complete this command')
    .action((shell: keyof typeof SHELLS) => out.write(SHELLS[shell](vocabularyOf(program))))
  withExamples(
    command,
    ['source <(loopguard completion bash)', 'in ~/.bashrc'],
    ['source <(loopguard completion zsh)', 'in ~/.zshrc'],
    ['loopguard completion fish > ~/.config/fish/completions/loopguard.fish', 'once'],
  )
}
