import { Argument, type Command } from 'commander'
import type { Outlet } from '../show/outlet.ts'
import { withExamples } from '../usage/examples.ts'

export type Shell = 'bash' | 'zsh' | 'fish'

/** The command that prints what a shell needs to complete all commands of the program, also those that are added later. */
export function addCompletionCommand(program: Command, out: Outlet): void {
  const command = program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish'] satisfies Shell[]))
    .description('print what a shell needs to complete this command')
    .action(async (shell: Shell) => {
      const { completionOf } = await import('./shells.ts')
      out.write(completionOf(shell, program))
    })
  withExamples(
    command,
    ['source <(loopguard completion bash)', 'in ~/.bashrc'],
    ['source <(loopguard completion zsh)', 'in ~/.zshrc'],
    ['loopguard completion fish > ~/.config/fish/completions/loopguard.fish', 'once'],
  )
}
