import type { Agent } from '@loopguard/agent-loop'
import { messageOf, show } from '@loopguard/kit'
import { CallAborted, endOf, type SubagentResult, type Subagents } from '@loopguard/subagent'
import type { ToolDefinition, ToolRunContext } from '@loopguard/tools'
import type { Config } from './config.ts'
import { badRalph, ralphFailed } from './failures.ts'
import { type Report, reportTool, textOf } from './report.ts'

interface Arguments {
  readonly objective: string
  readonly maxRounds?: number
}

/** The tool `ralph`: rounds towards an objective, each by a fresh child that knows nothing but the report of the one before. */
export function ralphTool(subagents: Subagents, config: Config): ToolDefinition<Arguments> {
  return {
    name: 'ralph',
    description:
      'Works towards an objective in rounds. Each is done by a fresh agent, which knows nothing but the objective and the report of the ' +
      `round before. It ends when a round reports that the objective is complete or blocked, and after ${config.maxRounds} rounds at the latest.`,
    parameters: {
      type: 'object',
      properties: {
        objective: { type: 'string', pattern: '\\S', description: 'What is to be achieved, and how one sees that it is.' },
        maxRounds: { type: 'integer', minimum: 1, description: `How many rounds it may take. Default ${config.maxRounds}.` },
      },
      required: ['objective'],
      additionalProperties: false,
    },
    execute: ({ objective, maxRounds = config.maxRounds }, exec) => {
      if (maxRounds > config.maxRounds) throw badRalph(`maxRounds must be an integer from 1 to ${config.maxRounds}, got ${maxRounds}`)
      return rounds({ subagents, config, exec, parent: parentOf(exec), objective, maxRounds })
    },
  }
}

interface Task extends Required<Arguments> {
  readonly subagents: Subagents
  readonly config: Config
  readonly exec: ToolRunContext
  readonly parent: Agent
}

async function rounds(task: Task): Promise<string> {
  const { maxRounds } = task
  let last: Report | undefined
  for (let round = 1; round <= maxRounds; round++) {
    const report: Report = await oneRound(task, round, last)
    if (report.status === 'complete') return `Complete after round ${round}.\n\n${textOf(report)}`
    if (report.status === 'blocked') return `Blocked in round ${round}: work remains.\n\n${textOf(report)}`
    last = report
  }
  return `Stopped by maxRounds (${maxRounds}): work remains.\n\n${last === undefined ? '' : textOf(last)}`
}

/** @throws HarnessError `RALPH_FAILED`, or `ABORTED`, with the last hand-off. */
async function oneRound(
  { subagents, config, exec, parent, objective, maxRounds }: Task,
  round: number,
  last: Report | undefined,
): Promise<Report> {
  const { signal, callId } = exec
  let report: Report | undefined
  const tools = [reportTool(config.maxHandoffChars, (given) => (report = given))]
  const handoff = last === undefined ? 'no round has reported yet' : `the last hand-off:\n\n${textOf(last)}`
  let result: SubagentResult
  try {
    result = await subagents.run({ parent, callId, signal, tools, prompt: promptOf(objective, round, maxRounds, last) })
  } catch (error) {
    // What keeps even the first round from beginning says best itself what it is.
    if (last === undefined) throw error
    throw ralphFailed(`round ${round} could not begin: ${messageOf(error)}; ${handoff}`, error)
  }
  if (signal.aborted) throw new CallAborted(`cancelled in round ${round}; ${handoff}`)
  const { reason } = result
  if (report !== undefined && (reason.kind === 'completed' || reason.kind === 'max-tokens')) return report
  throw ralphFailed(`round ${round} failed: it ended ${report === undefined ? 'without a report, ' : ''}${endOf(result)}; ${handoff}`)
}

function promptOf(objective: string, round: number, maxRounds: number, last: Report | undefined): string {
  const before = last === undefined ? 'No round was before this one.' : `The round before this one has reported:\n\n${textOf(last)}`
  return (
    `Objective:\n${objective}\n\nThis is round ${round} of ${maxRounds} at most. ${before}\n\n` +
    'Work towards the objective, and check what the report says before you rely on it. Call report as the last thing you do: the next ' +
    'round knows nothing else of yours.'
  )
}

/** The pipeline asks less of an agent than a child needs of its parent. */
function parentOf({ agent }: ToolRunContext): Agent {
  if (agent !== undefined && 'session' in agent) return agent as Agent
  throw badRalph(`ralph needs an agent of the loop to be the parent of its rounds, got ${show(agent)}`)
}
