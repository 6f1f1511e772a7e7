import type { Command } from 'commander'
import type { RunOptions } from '../run/run.ts'
import { withExamples } from '../usage/examples.ts'
import type { PageWriter } from './chat.ts'
import type { AgentChoice } from './chosen-agent.ts'

export interface ChatFlags extends AgentChoice {
  readonly model?: string
}

/** The command that lets a person talk to an agent. */
export function addChatCommand(
  program: Command,
  outlets: Pick<RunOptions, 'out' | 'notes'>,
  page: PageWriter,
  done: (code: number) => void,
): void {
  const command = program
    .command('chat')
    .argument('[cordis.yml]', 'the composition', 'cordis.yml')
    .description('talk to an agent of a composition in the terminal')
    .option('--agent <id>', 'the agent to talk to; default: the first of the configuration')
    .option('--resume <id>', 'go on with a stored session')
    .option('--model <name>', 'the model to ask, if the composition has no row @loopguard/agent-loop')
    .action(async (path: string, flags: ChatFlags) => {
      if (process.stdin.isTTY !== true || !outlets.out.style.movesCursor) {
        command.error('error: a conversation needs a terminal; loopguard run --prompt "text" needs none')
      }
      const { converse } = await import('./converse.ts')
      done(await converse(path, flags, outlets, page))
    })
  withExamples(
    command,
    ['loopguard chat', 'with the first agent of the cordis.yml of this folder'],
    ['loopguard chat team/cordis.yml --agent reviewer', 'with another one'],
    ['loopguard chat --resume worker', 'goes on with a stored session'],
  )
}
