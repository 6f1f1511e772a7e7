import { flat } from './quote.ts'
import { firstPoints, oneLine, previewOf } from './preview.ts'

export const GENTLE =
  'You are repeating the exact same tool call with identical arguments. Carefully analyze the previous result before calling again: if the task is not complete, try a different approach or different arguments instead of repeating the call.'

const HEADING = 'Loop warning: one and the same tool call, again and again.'
const ADVICE =
  'These calls make no progress. Do not make this call with these arguments again: take a different action, or call with different arguments. If you have gathered enough evidence, finish the task.'

const MAX_NAME_POINTS = 200

/** What the model reads at a later threshold than the first, when it has made this call `run` times in a row. */
export function detailed(tool: string, args: unknown, run: number, previewChars: number): string {
  return flat(`${HEADING}
- tool: ${nameLine(tool)}
- consecutive_calls: ${run}
- arguments: ${previewOf(args, previewChars)}
${ADVICE}`)
}

/** Whether a text is, from its first to its last character, a reminder. */
export function isReminder(text: string): boolean {
  if (text === GENTLE) return true
  if (!text.startsWith(HEADING)) return false
  const [heading, tool = '', calls = '', args = '', ...advice] = text.split('\n')
  const isDetailed = tool.startsWith('- tool: ') && /^- consecutive_calls: \d+$/.test(calls) && args.startsWith('- arguments: ')
  return isDetailed && heading === HEADING && advice.length === 1 && advice[0] === ADVICE
}

function nameLine(tool: string): string {
  const line = oneLine(tool)
  return firstPoints(line, MAX_NAME_POINTS) === line ? line : `${firstPoints(line, MAX_NAME_POINTS - 1)}…`
}
