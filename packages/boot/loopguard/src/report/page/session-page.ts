import type { Analysis } from '../figures/analysis.ts'
import type { ReportOptions } from '../figures/settings.ts'
import { verdictOf } from '../figures/verdict.ts'
import { tokensOf } from '../draw/bars.ts'
import { counted, moment, number } from '../numbers.ts'
import { shortened } from '../shortened.ts'
import { type Assets, documentOf } from './document.ts'
import { html, type Html, json } from './html.ts'
import { drawnAtOnce, type Drawn } from './drawn-at-once.ts'
import { drawnInParts } from './drawn-in-parts.ts'
import { capSection, repeatedSection, rulesSection, sharedBar, sparedText } from './sections.ts'
import { painted, PATTERNS } from './svg.ts'
import { sentence, thresholdsTold } from './told.ts'
import { tilesOf } from './tiles.ts'

/** Above this a page would be too large to be drawn at once. */
const MOST_AT_ONCE = 1500

const [MOST_MODELS, MOST_NOTES] = [4, 10]

const STYLES = ['colours.css', 'page.css', 'tones.css', 'picture.css', 'table.css', 'print.css']
const AT_ONCE: Assets = { styles: STYLES, scripts: ['cap.js'] }
const IN_PARTS: Assets = { styles: [...STYLES, 'strip.css'], scripts: ['cap.js', 'parts.js'] }

/** Where a page is, among others. */
export interface Place {
  /** What the file that was read is called. */
  readonly file: string
  /** The page with the table of all sessions, relative to this one. */
  readonly index?: string
}

/** The page of a session: one file of HTML. */
export function sessionPage(analysis: Analysis, options: ReportOptions, place: Place): string {
  const isShort = analysis.calls.length <= MOST_AT_ONCE
  const drawn = isShort ? drawnAtOnce(analysis) : drawnInParts(analysis)
  const caps = { least: analysis.spared[0]?.cap, texts: analysis.spared.map(sparedText) }
  return documentOf(
    `${analysis.name} · loopguard`,
    bodyOf(analysis, options, place, drawn),
    isShort ? AT_ONCE : IN_PARTS,
    json({ caps, ...drawn.data }),
  )
}

function bodyOf(analysis: Analysis, options: ReportOptions, place: Place, drawn: Drawn): Html {
  const { name, session, calls, tones } = analysis
  const told = session.requests.filter(({ usage }) => usage !== undefined).length
  return html`${PATTERNS}
    <main>
      <header>
        ${place.index !== undefined && html`<p class="up"><a href="${place.index}">all sessions</a></p>`}
        <h1>${name}</h1>
        <p class="mut">${factsOf(analysis, place)}</p>
      </header>
      <p class="verdict">${sentence(verdictOf(analysis), analysis)}</p>
      ${tilesOf(analysis.figures)} ${notesOf(analysis)}
      ${
        calls.length > 0 &&
        html`<section>
            <h2>${session.startedAt === undefined ? 'In order' : 'Time'}</h2>
            ${drawn.strip}${drawn.timeline} ${legend(session.startedAt === undefined)}
          </section>
          <section>
            <h2>Equal calls in a row</h2>
            <p class="mut">${thresholdsTold(options)}${drawn.runsNote}</p>
            ${drawn.runs}
          </section>`
      }
      <section>
        <h2>Input tokens of each request</h2>
        ${
          told === 0
            ? html`<p class="mut">Tokens not recorded.</p>`
            : html`${painted(tokensOf(session.requests, calls, tones), () => '')}
                <p class="mut">Requests in order; in colour where the answer repeated a call.${sharedBar(told, 'requests')}</p>`
        }
      </section>
      ${
        calls.length > 0 &&
        html`${capSection(analysis)} ${repeatedSection(analysis)} ${rulesSection(analysis)}
          <section>
            <h2>${drawn.tableTitle}</h2>
            <div class="scroll all">
              <table class="calls">
                <thead>
                  <tr>
                    <th class="n">#</th>
                    <th>turn.step</th>
                    <th>call</th>
                    <th class="n">in a row</th>
                    <th class="n">time</th>
                    <th>result</th>
                  </tr>
                </thead>
                <tbody id="rows">
                  ${drawn.rows}
                </tbody>
              </table>
            </div>
          </section>`
      }
      <footer class="mut">
        <p>
          Made by <code>loopguard report</code>. Calls are equal if name and arguments are, whatever the order of keys. This page fetches
          nothing.
        </p>
      </footer>
    </main>`
}

function factsOf({ name, session, figures }: Analysis, { file }: Place): string {
  const { startedAt, models, id } = session
  const facts = [
    ...(models.length > 0 ? [listed(models)] : []),
    startedAt === undefined ? 'no times recorded' : moment(startedAt),
    counted(figures.turns, 'turn'),
    counted(figures.requests, 'request'),
    ...(id === undefined || id === name ? [] : [`session ${id}`]),
    file,
  ]
  return facts.join(' · ')
}

/** Some of many. */
function listed(names: readonly string[]): string {
  return names.length <= MOST_MODELS
    ? names.join(', ')
    : `${names.slice(0, MOST_MODELS).join(', ')} and ${number(names.length - MOST_MODELS)} more models`
}

function notesOf({ session }: Analysis): Html {
  const unplaced = session.reminders.filter(({ call }) => call === undefined).length
  const { notes: read } = session
  const notes = [
    ...read.slice(0, MOST_NOTES),
    ...(read.length > MOST_NOTES ? [`And ${number(read.length - MOST_NOTES)} more like these.`] : []),
    ...(unplaced > 0
      ? [
          `Of ${counted(unplaced, 'reminder')} nothing says which call it followed; ${unplaced === 1 ? 'it is' : 'they are'} drawn where the model read ${unplaced === 1 ? 'it' : 'them'}.`,
        ]
      : []),
  ]
  return notes.length === 0
    ? html``
    : html`<ul class="notes">
        ${notes.map((note) => html`<li>${shortened(note, 400)}</li>`)}
      </ul>`
}

function legend(isInOrder: boolean): Html {
  return html`<ul class="legend">
    <li><i class="diamond"></i>reminder</li>
    <li><i class="swatch hatched"></i>ended by its timeout</li>
    <li><i class="swatch edged"></i>failed</li>
    <li><i class="swatch tone1"></i>a colour is one call, repeated; the number says which in a row</li>
    ${isInOrder ? html`<li>calls in their order: no times were recorded</li>` : html`<li><i class="swatch gap"></i>idle, shortened</li>`}
  </ul>`
}
