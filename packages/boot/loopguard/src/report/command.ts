import type { Command } from 'commander'
import { auditFlags } from '../run/audit-flags.ts'
import { EXIT } from '../run/exit-codes.ts'
import type { Outlet } from '../show/outlet.ts'
import { withExamples } from '../usage/examples.ts'
import type { ReportOptions } from './figures/settings.ts'

interface Flags extends ReportOptions {
  readonly output?: string
  readonly prices?: string
  readonly json?: true
}

/** The command that draws what happened in a session, or in many, as pages to look at. */
export function addReportCommand(program: Command, out: Outlet, notes: Outlet, done: (code: number) => void): void {
  const command = withExamples(
    program.command('report'),
    ['loopguard report session.jsonl', 'writes session.html'],
    ['loopguard report sessions', 'a page for each log in the folder, and report/index.html with all of them'],
    ["loopguard report session.jsonl --exclude 'todo_*' -o page.html", 'without bookkeeping, to another place'],
    ['loopguard report session.jsonl --prices prices.json', 'with what it cost'],
    ['loopguard report session.jsonl --json', 'the figures, for a program'],
  )
  auditFlags(
    command
      .argument('<file...>', 'session logs or recorded conversations, in any format that is read; folders of them; - is standard input')
      .description('draw what happened in a session as a page to look at, or in many with a table of them')
      .option('-o, --output <path>', 'the page; for many sessions the folder; default: <name>.html, or report')
      .option('--prices <file>', 'what tokens cost: {"<model>": {"input": 0.28, "output": 0.42}}, for a million of them')
      .option('--json', 'print the figures and write no page'),
  ).action(async (paths: readonly string[], flags: Flags) => {
    const { output, prices, json, ...options } = flags
    const misuse = await misuseOf(paths, flags)
    if (misuse !== undefined) command.error(`error: ${misuse}`)
    // Loaded when it is asked for: other commands need none of it.
    const { report } = await import('./write/report.ts')
    if (!(await report({ paths, options, prices, output, json: json === true, out, notes }))) done(EXIT.loadFailed)
  })
}

/** What is wrong with the flags together. */
async function misuseOf(
  paths: readonly string[],
  { output, json, thresholds, include, exclude, results }: Flags,
): Promise<string | undefined> {
  if (json === true && output !== undefined) return '--json writes no page, so there is nothing to put into the place that -o names'
  if (output?.trim() === '') return '-o must not be blank'
  if (paths.filter((path) => path === '-').length > 1) return 'standard input (-) can be read once'
  const { repeatConfigFaults } = await import('@loopguard/repeat')
  const faults = repeatConfigFaults({ thresholds, include, exclude, results })
  return faults.length > 0 ? faults.join('\n') : undefined
}
