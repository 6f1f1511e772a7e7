import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Command } from 'commander'
import { readRows } from '../load/rows.ts'
import { LogFault } from '../logs/store.ts'
import { EXIT } from '../run/exit-codes.ts'
import { run, type RunOptions } from '../run/run.ts'
import { withExamples } from '../usage/examples.ts'
import { ADVICE } from './chosen-agent.ts'
import { type AgentChoice } from './chosen-agent.ts'
import { ChatFront } from './front.ts'
import type { PageWriter } from './chat.ts'
import { chatRows } from './rows.ts'

const LOAD_LIMIT_MS = 30_000
/** Who leaves does not want to wait. */
const STOP_LIMIT_MS = 2000

interface ChatFlags extends AgentChoice {
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
    .action(async (path: string, { agent, resume, model }: ChatFlags) => {
      const { out, notes } = outlets
      if (process.stdin.isTTY !== true || !out.style.movesCursor) {
        command.error('error: a conversation needs a terminal; loopguard run --prompt "text" needs none')
      }
      const file = resolve(path)
      if (!existsSync(file)) throw new LogFault(`there is no ${file}. ${ADVICE}`)
      const rows = chatRows(await readRows(file), model)
      const front = new ChatFront({ choice: { agent, resume }, out, notes, page })
      const attach = (ctx: Context): void => front.attach(ctx)
      const code = await run({
        file,
        rows,
        json: false,
        loadLimitMs: LOAD_LIMIT_MS,
        stopLimitMs: STOP_LIMIT_MS,
        prompt: false,
        attach,
        ...outlets,
      })
      if (front.fault === undefined || code !== EXIT.completed) return done(code)
      throw front.fault
    })
  withExamples(
    command,
    ['loopguard chat', 'with the first agent of the cordis.yml of this folder'],
    ['loopguard chat team/cordis.yml --agent reviewer', 'with another one'],
    ['loopguard chat --resume worker', 'goes on with a stored session'],
  )
}
