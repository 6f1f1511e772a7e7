import type { Analysis } from '../figures/analysis.ts'
import type { Spared } from '../figures/caps.ts'
import type { Results } from '../figures/series.ts'
import { binSize } from '../draw/bars.ts'
import { counted, duration, money, number } from '../numbers.ts'
import { firstLine } from './cutter.ts'
import { html, type Html } from './html.ts'
import { callName } from './rows.ts'

const MOST_SERIES = 20
const MOST_SPOKEN = 50

/** What a cap would have spared, with a slider; without a script it shows the first threshold. */
export function capSection({ spared, figures }: Analysis): Html {
  const { cap } = figures.spared
  const [least, most] = [spared[0]?.cap ?? cap, spared.at(-1)?.cap ?? cap]
  return html`<section class="cap">
    <h2>What a cap would have spared</h2>
    <p class="mut">
      An upper bound. It takes out every equal call in a row beyond the cap, and the requests that called nothing else. A model that is
      stopped does something else instead, which costs, too.
    </p>
    <p class="slider">
      <label for="cap">cap at</label> <input id="cap" type="range" min="${least}" max="${most}" value="${cap}" />
      <output id="at" for="cap">${cap}</output> <span id="spared">${sparedText(figures.spared)}</span>
    </p>
  </section>`
}

/** One line of what a cap spares. */
export function sparedText({ calls, requests, ms, inputTokens, cost }: Spared): string {
  if (calls === 0) return 'nothing: no call was made more often in a row'
  const parts = [
    `up to ${counted(calls, 'call')}`,
    counted(requests, 'request'),
    ...(ms === undefined ? [] : [duration(ms)]),
    inputTokens === undefined ? 'tokens not recorded' : `${number(inputTokens)} input tokens`,
    ...(cost === undefined ? [] : [money(cost)]),
  ]
  return parts.join(' · ')
}

export function repeatedSection({ series, session, tones }: Analysis): Html {
  const repeated = series.filter(({ calls }) => calls.length > 1)
  if (repeated.length === 0) return html``
  const isTimed = session.startedAt !== undefined
  const shown = repeated.slice(0, MOST_SERIES)
  return html`<section>
    <h2>Most repeated calls</h2>
    <div class="scroll">
      <table class="plain">
        <thead>
          <tr>
            <th>call</th>
            <th class="n">longest run</th>
            <th class="n">made</th>
            ${isTimed && html`<th class="n">took</th>`}
            <th>results</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            ({ identity, calls, longest, results }) =>
              html`<tr>
                <td class="call">
                  <i class="dot tone${tones.get(identity) ?? 0}"></i><code>${callName(calls[0] as (typeof calls)[0])}</code>
                </td>
                <td class="n" data-is="longest run">${longest === 0 ? '–' : number(longest)}</td>
                <td class="n" data-is="made">${number(calls.length)}</td>
                ${isTimed && html`<td class="n" data-is="took">${duration(calls.reduce((sum, { start, end }) => sum + end - start, 0))}</td>`}
                <td class="result">${resultsOf(results)}</td>
              </tr> `,
          )}
        </tbody>
      </table>
    </div>
    ${repeated.length > shown.length && html`<p class="mut">${number(repeated.length - shown.length)} more calls were made twice or more.</p>`}
  </section>`
}

function resultsOf({ kind, different }: Results): string {
  if (different === 0) return 'no result'
  if (kind === 'unlike') return `${number(different)} different results`
  return kind === 'same' ? 'always the same result' : 'the same but for times and ids'
}

const RULES: Readonly<Record<string, string>> = {
  'repeat-tool-reminder': 'equal calls in a row',
  'repeated-failure-reminder': 'failures of one call with one error',
  'no-news-run': 'calls in a row that bring nothing new (no guard reminds of them)',
}

/** What the guards would say of it, whether they were there or not. */
export function rulesSection({ spoken }: Analysis): Html {
  if (spoken.length === 0) return html``
  const shown = spoken.slice(0, MOST_SPOKEN)
  return html`<section>
    <h2>What the rules find</h2>
    <p class="mut">As they are set here, and whether a guard was there or not.</p>
    <div class="scroll">
      <table class="plain">
        <thead>
          <tr>
            <th class="n">after</th>
            <th>call</th>
            <th>rule</th>
            <th class="n">count</th>
            <th class="n">more followed</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (finding) =>
              html`<tr>
                <td class="n" data-is="after"><a href="#c${finding.call + 1}">#${number(finding.call + 1)}</a></td>
                <td class="call">
                  <code>${callName(finding)}</code
                  >${finding.error !== undefined && html` <span class="bad">${firstLine(finding.error, 80)}</span>`}
                </td>
                <td class="result rule"><b>${finding.guard}</b> <span class="mut">${RULES[finding.guard] ?? ''}</span></td>
                <td class="n" data-is="count">${number(finding.count)}</td>
                <td class="n" data-is="more followed">${number(finding.callsAfter)}</td>
              </tr> `,
          )}
        </tbody>
      </table>
    </div>
    ${spoken.length > shown.length && html`<p class="mut">And ${number(spoken.length - shown.length)} more.</p>`}
  </section>`
}

/** How many calls share a bar, if they do. */
export function sharedBar(length: number, what: string): string {
  const size = binSize(length)
  return size <= 1 ? '' : ` Each bar is the highest of ${number(size)} ${what}.`
}
