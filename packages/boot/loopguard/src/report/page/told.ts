import type { Analysis } from '../figures/analysis.ts'
import type { Piece } from '../figures/verdict.ts'
import { type ReportOptions, thresholdsOf } from '../figures/settings.ts'
import { number } from '../numbers.ts'
import { html, type Html } from './html.ts'

/** Where thresholds and patterns come from: a log does not hold them. */
export function thresholdsTold(options: ReportOptions): Html {
  const { thresholds: given, include = [], exclude = [], results } = options
  const list = thresholdsOf(options).map(number).join(', ')
  const from = given === undefined ? 'the defaults, since no recording says which its guard had' : 'as given with --thresholds'
  const only = include.length === 0 ? '' : ` Only calls of ${include.join(', ')} count (--include).`
  const but = exclude.length === 0 ? '' : ` Calls of ${exclude.join(', ')} do not count (--exclude).`
  const gate = results === 'unchanged' ? ' A call with another result begins a new run (--results unchanged).' : ''
  return html`Thresholds <b class="warm">${list}</b>: ${from}.${only}${but}${gate}`
}

/** A sentence of the report. */
export function sentence(pieces: readonly Piece[], { calls, tones }: Analysis): Html {
  return html`${pieces.map((piece) => {
    if (typeof piece === 'string') return piece
    if ('strong' in piece) return html`<strong>${piece.strong}</strong>`
    const tone = tones.get(calls[piece.call]?.identity ?? '') ?? 0
    return html`<a href="#c${piece.call + 1}"><code class="ink${tone}">${piece.code}</code></a>`
  })}`
}
