import type { ToolDefinition } from '@loopguard/tools'
import { badReport } from './failures.ts'

/** What a round leaves behind: all that the next one knows of it. */
export interface Report {
  readonly status: 'continue' | 'complete' | 'blocked'
  readonly summary: string
  readonly evidence: readonly string[]
  readonly nextSteps: readonly string[]
  readonly blocker?: string
}

const lines = (description: string): object => ({ type: 'array', items: { type: 'string' }, description })

const PARAMETERS = {
  type: 'object',
  properties: {
    status: {
      type: 'string',
      enum: ['continue', 'complete', 'blocked'],
      description: 'complete when the objective is achieved, blocked when no round can go on without help, else continue.',
    },
    summary: { type: 'string', pattern: '\\S', description: 'What has been done so far, in all rounds.' },
    evidence: lines('What shows that: commands and what they printed, files, test results.'),
    nextSteps: lines('What the next round is to do.'),
    blocker: { type: 'string', description: 'What the work is blocked by.' },
  },
  required: ['status', 'summary', 'evidence', 'nextSteps'],
  additionalProperties: false,
}

/** The tool that ends a round. `take` is given the first report that can be, once. */
export function reportTool(maxChars: number, take: (report: Report) => void): ToolDefinition<Report> {
  let isTaken = false
  return {
    name: 'report',
    description:
      `Ends this round, and hands over to the next, which knows nothing but this report: at most ${maxChars} characters. ` +
      'Call it once, as the last thing you do.',
    parameters: PARAMETERS,
    concludesTurn: true,
    execute(report) {
      if (isTaken) throw badReport('this round has been reported already')
      if (report.status === 'blocked' && (report.blocker ?? '').trim() === '')
        throw badReport('say in `blocker` what the work is blocked by')
      const { length } = textOf(report)
      if (length > maxChars) throw badReport(`the report has ${length} characters, at most ${maxChars} are handed over: shorten it`)
      isTaken = true
      take(report)
      return 'reported'
    },
  }
}

/** A report as the next round reads it, and in the end the parent. */
export function textOf({ status, summary, evidence, nextSteps, blocker }: Report): string {
  const list = (title: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [title, ...items.map((item) => `- ${item}`)]
  return [
    `Status: ${status}`,
    ...(blocker === undefined ? [] : [`Blocker: ${blocker}`]),
    `Summary: ${summary}`,
    ...list('Evidence:', evidence),
    ...list('Next steps:', nextSteps),
  ].join('\n')
}
