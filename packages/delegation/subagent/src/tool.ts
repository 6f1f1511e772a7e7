import type { Agent } from '@loopguard/agent-loop'
import { show } from '@loopguard/kit'
import type { JobEnd, JobRun, Jobs } from '@loopguard/jobs'
import type { ToolDefinition } from '@loopguard/tools'
import { answerOf, endOf, isOfParent } from './answer.ts'
import { badSubagent } from './failures.ts'
import type { Launcher } from './launcher.ts'
import type { Subagent, SubagentResult } from './types.ts'

interface Arguments {
  readonly description: string
  readonly prompt: string
  readonly run_in_background?: boolean
}

/** The tool that makes children. Without `jobs` none works in the background. */
export function subagentTool(name: string, launcher: Launcher, jobs: Jobs | undefined): ToolDefinition<Arguments> {
  return {
    name,
    description: descriptionOf(jobs !== undefined),
    parameters: {
      type: 'object',
      properties: {
        description: { type: 'string', description: 'What the subagent does, in one short line.' },
        prompt: { type: 'string', pattern: '\\S', description: 'The whole task: the subagent knows nothing else of it.' },
        ...(jobs !== undefined && {
          run_in_background: { type: 'boolean', description: 'Whether to go on at once while the subagent works as a job.' },
        }),
      },
      required: ['description', 'prompt'],
      additionalProperties: false,
    },
    isConcurrencySafe: () => true,
    async execute({ description, prompt, run_in_background: inBackground }, { agent, signal, callId }) {
      const parent = agentOf(agent, name)
      if (inBackground === true && jobs !== undefined) {
        // A child that may not be is refused before there is a job.
        launcher.checkSpawn(parent)
        const run = (): JobRun => runOf(launcher.spawn({ parent, prompt, callId }))
        return `started background job ${jobs.start({ kind: 'subagent', label: description, owner: parent, run })}`
      }
      return answerOf(await launcher.spawn({ parent, prompt, callId, signal }).done)
    },
  }
}

/** The pipeline asks less of an agent than a child needs of its parent. */
function agentOf(agent: unknown, tool: string): Agent {
  if (typeof agent === 'object' && agent !== null && 'session' in agent) return agent as Agent
  throw badSubagent(`${tool} needs an agent of the loop to be the parent, got ${show(agent)}`)
}

/** A child as a job sees it: what it prints is its answer. */
function runOf(child: Subagent): JobRun {
  return { cancel: () => child.cancel(), done: child.done.then(jobEndOf) }
}

function jobEndOf(result: SubagentResult): JobEnd {
  const { reason, text } = result
  if (reason.kind === 'completed') return { status: 'completed', output: answerOf(result) }
  return { status: isOfParent(reason) ? 'killed' : 'failed', detail: endOf(result), output: text }
}

function descriptionOf(withJobs: boolean): string {
  const foreground =
    'Gives a task to a subagent: a fresh agent with a conversation of its own, which knows nothing of yours. It works until it is done, ' +
    'and its last answer is the result; you read nothing else of what it did. Several calls in one message work at the same time.'
  if (!withJobs) return foreground
  return (
    `${foreground} With run_in_background, it works as a job while you go on: job_output reads its answer, job_kill ends it, and you are ` +
    'told when it has ended.'
  )
}
