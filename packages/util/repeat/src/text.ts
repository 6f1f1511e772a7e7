import { flat } from './quote.ts'
import { firstPoints, lineOf, oneLine, previewOf } from './preview.ts'

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

const FAILED = /^This call has failed \d+ times with the same error\. What was done in between did not change that\.$/
const FAILED_ADVICE = 'Before making it again, find out what the error asks for; change the call or its cause, or say that you are blocked.'

/** What the model reads when this call has failed `count` times with this error. */
export function failureText(
  tool: string,
  args: unknown,
  error: string,
  count: number,
  { previewChars, errorChars }: { readonly previewChars: number; readonly errorChars: number },
): string {
  return flat(`This call has failed ${count} times with the same error. What was done in between did not change that.
- tool: ${nameLine(tool)}
- arguments: ${previewOf(args, previewChars)}
- error: ${lineOf(error, errorChars)}
${FAILED_ADVICE}`)
}

/** Whether a text is, from its first to its last character, a reminder: one of repeated calls, or one of repeated failures. */
export function isReminder(text: string): boolean {
  return isRepeatReminder(text) || isFailureReminder(text)
}

export function isFailureReminder(text: string): boolean {
  if (!text.startsWith('This call has failed ')) return false
  const [heading = '', tool = '', args = '', error = '', ...advice] = text.split('\n')
  const isWhole = tool.startsWith('- tool: ') && args.startsWith('- arguments: ') && error.startsWith('- error: ')
  return isWhole && FAILED.test(heading) && advice.length === 1 && advice[0] === FAILED_ADVICE
}

export function isRepeatReminder(text: string): boolean {
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
