import type { Analysis } from '../figures/analysis.ts'
import type { CountedCall } from '../figures/counted.ts'
import { duration, number } from '../numbers.ts'
import { brief, shortened } from '../shortened.ts'
import type { Cutter } from './cutter.ts'
import { firstLine } from './cutter.ts'
import { html, type Html } from './html.ts'

/** What the table says of a call. All of it is text. */
export interface Row {
  /** From 1. */
  readonly number: number
  readonly place: string
  readonly tone: number
  readonly name: string
  readonly arguments: string
  readonly count: string
  readonly time: string
  /** `failed`, `timed out`, or nothing. */
  readonly fault: string
  readonly summary: string
  /** Nothing when the summary says it all. */
  readonly result: string
  /** Texts of the reminders that followed. */
  readonly reminders: readonly string[]
}

const SUMMARY = 64

export function rowOf(analysis: Analysis, call: CountedCall, cutter: Cutter, reminders: readonly string[]): Row {
  const { startedAt } = analysis.session
  const { at, turn, step, name, outcome, count, isTimeout, isError } = call
  const text = outcome?.text ?? ''
  const summary = outcome === undefined ? 'no result' : text.trim() === '' ? 'nothing' : firstLine(text, SUMMARY)
  return {
    number: at + 1,
    place: `${turn}.${step}`,
    tone: analysis.tones.get(call.identity) ?? 0,
    name: brief(name),
    arguments: cutter.cut(call.arguments),
    count: count === 0 ? '–' : number(count),
    time: startedAt === undefined ? '–' : duration(call.end - call.start),
    fault: isTimeout ? 'timed out' : isError ? 'failed' : '',
    summary,
    result: text.trim() === summary ? '' : cutter.cut(text),
    reminders: reminders.map((each) => cutter.cut(each)),
  }
}

/** What is to be read beside a call in a picture. `assets/parts.js` makes the same. */
export function titleOf({ number: at, name, arguments: raw, time, count, fault }: Row): string {
  const facts = [
    time,
    ...(count === '–' ? ['does not count'] : count === '1' ? [] : [`${count} in a row`]),
    ...(fault === '' ? [] : [fault]),
  ]
  return `#${number(at)} ${callName({ name, arguments: raw })}\n${facts.filter((fact) => fact !== '–').join(', ')}`
}

/** `assets/parts.js` makes the same in a browser. */
export function markupOf(row: Row): Html {
  const { number: at, place, tone, name, arguments: raw, count, time, fault, summary, result } = row
  const told = html`${fault !== '' && html`<b class="${fault === 'failed' ? 'bad' : 'bad late'}">${fault}</b> `}<span>${summary}</span>`
  return html`<tr id="c${at}">
      <td class="n" data-is="#">${at}</td>
      <td data-is="turn.step">${place}</td>
      <td class="call">
        <i class="dot tone${tone}"></i><code><b>${name}</b> ${raw}</code>
      </td>
      <td class="n" data-is="in a row">${count}</td>
      <td class="n" data-is="time">${time}</td>
      <td class="result">
        ${
          result === ''
            ? told
            : html`<details>
                <summary>${told}</summary>
                <pre>${result}</pre>
              </details>`
        }
      </td>
    </tr>
    ${row.reminders.map(
      (text) =>
        html`<tr class="reminded">
          <td colspan="2"></td>
          <td colspan="4">
            <i class="diamond"></i>
            <pre>${text}</pre>
          </td>
        </tr> `,
    )}`
}

/** What a call is called where there is little room. */
export function callName({ name, arguments: raw }: Pick<CountedCall, 'name' | 'arguments'>): string {
  return `${brief(name)} ${shortened(raw, 200)}`
}
