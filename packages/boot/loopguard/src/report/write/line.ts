import type { Figures } from '../figures/figures.ts'
import { counted, number } from '../numbers.ts'
import { brief } from '../shortened.ts'

/** What a report comes to, in a line: `run_tests ×8 in a row, 4 reminders, 1 timeout; a cap at 3 spares ≤ 5 calls, 41,645 tokens`. Tokens are input tokens. */
export function lineOf({ longestRun, reminders, timeouts, spared }: Figures): string {
  const run =
    longestRun === undefined ? 'no call was made twice in a row' : `${brief(longestRun.name)} ×${number(longestRun.length)} in a row`
  const facts = [run, counted(reminders, 'reminder'), timeouts === undefined ? 'timeouts not recorded' : counted(timeouts, 'timeout')]
  const tokens = spared.inputTokens === undefined ? 'tokens not recorded' : counted(spared.inputTokens, 'token')
  const cap =
    spared.calls === 0
      ? `a cap at ${spared.cap} spares nothing`
      : `a cap at ${spared.cap} spares ≤ ${counted(spared.calls, 'call')}, ${tokens}`
  return `${facts.join(', ')}; ${cap}`
}
