import type { Context } from '@deepseek-ai/cordis'
import type { JobOwner, Jobs } from '@loopguard/jobs'
import type { ToolDefinition } from '@loopguard/tools'
import { folderOf } from './agent-folder.ts'
import { CallAborted } from './aborted.ts'
import { bashText } from './bash-text.ts'
import { runOf } from './job-run.ts'
import type { Config } from './config.ts'
import type {} from './shell.ts'

interface BashArguments {
  readonly command: string
  readonly description: string
  readonly timeoutMs?: number
  readonly workdir?: string
  readonly run_in_background?: boolean
}

/** The tool `bash`. Without `jobs` it runs nothing in the background. */
export function bashTool(ctx: Context, jobs: Jobs | undefined): ToolDefinition<BashArguments> {
  const { shell } = ctx
  return {
    name: 'bash',
    description: descriptionOf(shell.limits, jobs !== undefined),
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, description: 'The command: any bash script.' },
        description: { type: 'string', description: 'What the command does, in one short line.' },
        timeoutMs: { type: 'number', exclusiveMinimum: 0, description: 'After how many milliseconds to end the command.' },
        workdir: { type: 'string', description: 'The folder to run it in.' },
        ...(jobs !== undefined && {
          run_in_background: { type: 'boolean', description: 'Whether to go on at once while the command runs as a job.' },
        }),
      },
      required: ['command', 'description'],
      additionalProperties: false,
    },
    async execute({ command, description, timeoutMs, workdir, run_in_background: inBackground }, { signal, agent }) {
      const spec = shell.resolve({ command, timeoutMs, workdir, cwd: folderOf(agent), signal, owner: agent?.ctx ?? ctx })
      if (inBackground === true && jobs !== undefined) {
        // Without an agent that can own a job, the service refuses it.
        const owner = agent as JobOwner
        const id = jobs.start({ kind: 'bash', label: description, owner, run: () => runOf(shell.start(spec)) })
        return `started background job ${id}`
      }
      const result = await shell.run(spec)
      if (result.aborted) throw new CallAborted()
      return bashText(result, spec.timeoutMs)
    },
  }
}

function descriptionOf({ timeoutMs, maxTimeoutMs, maxOutputBytes }: Config, withJobs: boolean): string {
  const foreground =
    'Runs a command with bash and returns what it printed: standard output, then standard error, then its exit code when that is not 0. ' +
    'Each call is a shell of its own: a cd or an export does not last. Standard input is empty; there is no terminal. ' +
    `Of longer output the last ${maxOutputBytes} bytes of each stream are shown, and the file that holds all of it is named. ` +
    `A command is ended after ${timeoutMs}ms unless timeoutMs says otherwise (at most ${maxTimeoutMs}); what it leaves running is ended with it.`
  if (!withJobs) return foreground
  return (
    `${foreground} With run_in_background, a command that takes long runs as a job, without a timeout, while you go on: ` +
    'job_output reads what it prints, job_kill ends it, and you are told when it has ended.'
  )
}
