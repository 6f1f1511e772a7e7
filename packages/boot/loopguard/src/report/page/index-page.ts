import type { Analysis } from '../figures/analysis.ts'
import type { Figures } from '../figures/figures.ts'
import type { ReportOptions } from '../figures/settings.ts'
import { plain, verdictOf } from '../figures/verdict.ts'
import { SPARK, sparkOf } from '../draw/spark.ts'
import { counted, duration, money, minute, number } from '../numbers.ts'
import { brief } from '../shortened.ts'
import { documentOf } from './document.ts'
import { html, type Html } from './html.ts'
import { heatOf } from './strip.ts'
import { tile } from './tiles.ts'
import { thresholdsTold } from './told.ts'

/** A session in the table of many. */
export interface Entry {
  readonly name: string
  /** The file of its page, beside the table's. */
  readonly page: string
  readonly startedAt: number | undefined
  readonly figures: Figures
  readonly spark: string
  readonly heat: string
  readonly verdict: string
}

/** A file that could not be read, and why. */
export interface Unread {
  readonly file: string
  readonly why: string
}

export function entryOf(analysis: Analysis, page: string): Entry {
  const { name, session, figures, calls, thresholds } = analysis
  return {
    name,
    page,
    startedAt: session.startedAt,
    figures,
    spark: sparkOf(calls),
    heat: heatOf(figures.longestRun?.length ?? 0, thresholds),
    verdict: plain(verdictOf(analysis)),
  }
}

/** The session with the longest run; of equal ones, that with more timeouts. */
export function worstOf(entries: readonly Entry[]): Entry | undefined {
  return sorted(entries)[0]
}

function sorted(entries: readonly Entry[]): readonly Entry[] {
  const run = ({ figures }: Entry): number => figures.longestRun?.length ?? 0
  return entries.toSorted((a, b) => run(b) - run(a) || (b.figures.timeouts ?? 0) - (a.figures.timeouts ?? 0))
}

/** The page with the table of all sessions, the worst first. */
export function indexPage(entries: readonly Entry[], unread: readonly Unread[], options: ReportOptions): string {
  const sum = (of: (figures: Figures) => number | undefined): number =>
    entries.reduce((total, { figures }) => total + (of(figures) ?? 0), 0)
  const hasCost = entries.some(({ figures }) => figures.cost?.sum !== undefined)
  const worst = worstOf(entries)
  const body = html`<main>
    <header>
      <h1>${counted(entries.length, 'session')}</h1>
      <p class="mut">${thresholdsTold(options)}</p>
    </header>
    ${
      worst !== undefined &&
      html`<p class="verdict">
        <a href="${hrefOf(worst)}"><strong>${worst.name}</strong></a
        >: ${worst.verdict}
      </p>`
    }
    <dl class="tiles">
      ${tile(number(sum(({ calls }) => calls)), 'tool calls')} ${tile(number(sum(({ reminders }) => reminders)), 'reminders')}
      ${tile(number(sum(({ timeouts }) => timeouts)), 'timeouts')} ${tile(number(sum(({ otherErrors }) => otherErrors)), 'other errors')}
      ${tile(number(sum(({ tokens }) => tokens?.input)), 'input tokens, where recorded')}
      ${hasCost && tile(money(sum(({ cost }) => cost?.sum)), 'where prices are given')}
    </dl>
    ${
      unread.length > 0 &&
      html`<ul class="notes">
        ${unread.map(({ why }) => html`<li>${why}</li>`)}
      </ul>`
    }
    <section>
      <div class="scroll">
        <table class="sessions" id="sessions">
          <thead>
            <tr>
              ${columns(hasCost)}
            </tr>
          </thead>
          <tbody>
            ${sorted(entries).map((entry) => rowOf(entry, hasCost))}
          </tbody>
        </table>
      </div>
    </section>
    <footer class="mut">
      <p>Made by <code>loopguard report</code>. A spark is as high as the longest run of equal calls. This page fetches nothing.</p>
    </footer>
  </main>`
  return documentOf(
    'Sessions · loopguard',
    body,
    { styles: ['colours.css', 'page.css', 'tones.css', 'table.css', 'print.css', 'sessions.css'], scripts: ['sort.js'] },
    undefined,
  )
}

/** What a column holds, how it is sorted at first, and whether it holds numbers. */
function columns(hasCost: boolean): Html {
  const numbers = ['calls', 'longest run', 'reminders', 'timeouts', 'other errors', 'busy', 'input tokens', ...(hasCost ? ['cost'] : [])]
  const head = (name: string, classes: string): Html =>
    html`<th class="${classes}" aria-sort="${name === 'longest run' ? 'descending' : 'none'}"><button type="button">${name}</button></th>`
  return html`${head('session', '')}${head('started (UTC)', '')}${numbers.map((name) => head(name, 'n'))}`
}

function rowOf(entry: Entry, hasCost: boolean): Html {
  const { name, startedAt, figures, spark, heat } = entry
  const { calls, longestRun, reminders, timeouts, otherErrors, busyMs, tokens, cost } = figures
  const cell = (is: string, value: number | undefined, text: string): Html =>
    html`<td class="n" data-is="${is}" data-value="${value ?? -1}">${value === undefined ? '–' : text}</td>`
  const amount = (is: string, value: number | undefined): Html => cell(is, value, number(value ?? 0))
  const run = longestRun?.length ?? (calls > 0 ? 1 : 0)
  return html`<tr>
    <td class="call"><a href="${hrefOf(entry)}">${name}</a></td>
    <td data-is="started" data-value="${startedAt ?? -1}">${startedAt === undefined ? '–' : minute(startedAt)}</td>
    ${amount('calls', calls)}
    <td class="n run" data-is="longest run" data-value="${run}">
      <svg class="spark ${heat}" width="${SPARK.width}" height="${SPARK.height}" aria-hidden="true"><path d="${spark}" /></svg>
      <b>${number(run)}</b><span class="of">${longestRun && brief(longestRun.name)}</span>
    </td>
    ${amount('reminders', reminders)}${amount('timeouts', timeouts)}${amount('other errors', otherErrors)}${cell('busy', busyMs?.all, duration(busyMs?.all ?? 0))}${amount('input tokens', tokens?.input)}${hasCost && cell('cost', cost?.sum, money(cost?.sum ?? 0))}
  </tr> `
}

/** Encoded, though names of pages hold nothing that needs it. */
function hrefOf({ page }: Entry): string {
  return encodeURIComponent(page)
}
