/**
 * Plugin with the tool `bash`.
 * @packageDocumentation
 */

import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import type { ToolDefinition, ToolRunContext } from '@loopguard/tools'
import { bashText } from './bash-text.ts'
import type {} from './shell.ts'

/** The plugin's name in a composition. */
export const name = 'bash'

export const inject: string[] = ['shell', 'tools']

/** It takes none: what bounds a command is set at the service. */
export const Config: z<object, object> = strictConfig(name, z.object({}), [])

interface BashArguments {
  readonly command: string
  readonly description: string
  readonly timeoutMs?: number
  readonly workdir?: string
}

/** Registers `bash`. It declares no `timeoutMs`: its own clock ends a command, and the model reads what was printed until then. */
export function apply(ctx: Context): void {
  ctx.tools.register(bashTool(ctx))
}

function bashTool(ctx: Context): ToolDefinition<BashArguments> {
  const { shell } = ctx
  const { timeoutMs: defaultMs, maxTimeoutMs, maxOutputBytes } = shell.limits
  const description =
    'Runs a command with bash and returns what it printed: standard output, then standard error, then its exit code when that is not 0. ' +
    'Each call is a shell of its own: a cd or an export does not last. Standard input is empty; there is no terminal. ' +
    `Of longer output the last ${maxOutputBytes} bytes of each stream are shown, and the file that holds all of it is named. ` +
    `A command is ended after ${defaultMs}ms unless timeoutMs says otherwise (at most ${maxTimeoutMs}); what it leaves running is ended with it.`
  return {
    name: 'bash',
    description,
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, description: 'The command: any bash script.' },
        description: { type: 'string', description: 'What the command does, in one short line.' },
        timeoutMs: { type: 'number', exclusiveMinimum: 0, description: 'After how many milliseconds to end the command.' },
        workdir: { type: 'string', description: 'The folder to run it in.' },
      },
      required: ['command', 'description'],
      additionalProperties: false,
    },
    async execute({ command, timeoutMs, workdir }, { signal, agent }: ToolRunContext) {
      const spec = shell.resolve({ command, timeoutMs, workdir, signal, owner: agent?.ctx ?? ctx })
      const result = await shell.run(spec)
      if (result.aborted) throw new CommandAborted()
      return bashText(result, spec.timeoutMs)
    },
  }
}

/** What the pipeline itself says of a call whose caller has aborted; here also for a signal that a wrapper put in its place. */
class CommandAborted extends Error {
  override readonly name: string = 'AbortError'
  readonly code: string = 'ABORTED'

  constructor() {
    super('tool call aborted')
  }
}
