/**
 * Plugin with the tool `persistent_bash`.
 * @packageDocumentation
 */

import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { HarnessError, strictConfig } from '@loopguard/kit'
import { MAX_TIMER_DELAY_MS } from '@loopguard/timeout'
import type { ToolAgent } from '@loopguard/tools'
import { CallAborted } from './aborted.ts'
import { AgentShell } from './agent-shell.ts'
import { folderOf } from './agent-folder.ts'
import { checkCommand } from './request.ts'
import type {} from './shell.ts'

/** The plugin's name in a composition. */
export const name = 'persistent-bash'

export const inject: string[] = ['shell', 'tools']

export interface Config {
  /** How long a command may take. Default 300000 (5 min). */
  readonly timeoutMs: number
  /** How many characters of the output are shown, from its end. Default 16000. */
  readonly maxOutputChars: number
}

export const Config: z<Partial<Config>, Config> = strictConfig(
  name,
  z.object({
    timeoutMs: z.natural().min(1).max(MAX_TIMER_DELAY_MS).default(300_000),
    maxOutputChars: z.natural().min(1).default(16_000),
  }) as z<Partial<Config>, Config>,
  ['timeoutMs', 'maxOutputChars'],
)

/** Registers `persistent_bash`: one shell for each agent, which goes with the agent, and with this plugin. */
export function apply(ctx: Context, config: Config): void {
  const { shell } = ctx
  const shells = new Map<ToolAgent, AgentShell>()
  ctx.effect(
    () => async () => {
      await Promise.all(Array.from(shells.values(), (each) => each.end()))
    },
    'persistent_bash: shells',
  )
  const shellOf = (agent: ToolAgent): AgentShell => {
    let own = shells.get(agent)
    if (own === undefined) {
      shells.set(agent, (own = new AgentShell(() => shell.open(agent.ctx, folderOf(agent)), config)))
      agent.ctx.effect(() => () => void shells.delete(agent), 'persistent_bash: shell of an agent')
    }
    return own
  }
  ctx.tools.register<{ readonly command: string }>({
    name: 'persistent_bash',
    description:
      'Runs a command in your own bash, which stays: a cd, an export or a function lasts until the shell ends, and so do background ' +
      'processes. Returns what was printed, and the exit code when that is not 0. Standard input is empty; there is no terminal. ' +
      `Of longer output the last ${config.maxOutputChars} characters are shown. A command that takes longer than ${config.timeoutMs}ms, ` +
      'and an exit, end the shell; the next call starts a fresh one.',
    parameters: {
      type: 'object',
      properties: { command: { type: 'string', minLength: 1, description: 'The command: any bash script.' } },
      required: ['command'],
      additionalProperties: false,
    },
    async execute({ command }, { agent, signal }) {
      checkCommand(command)
      if (agent === undefined) throw new HarnessError('persistent_bash needs an agent, whose shell it is', 'SHELL_NO_AGENT')
      const text = await shellOf(agent).run(command, signal)
      if (text === undefined) throw new CallAborted()
      return text
    },
  })
}
