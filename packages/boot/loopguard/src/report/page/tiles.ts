import type { Figures } from '../figures/figures.ts'
import { counted, duration, money, number } from '../numbers.ts'
import { html, type Html } from './html.ts'

/** The numbers of a session, the bigger the more they say. */
export function tilesOf(figures: Figures): Html {
  const { calls, reminders, timeouts, otherErrors, failedRequests, requests, busyMs, tokens, cost } = figures
  return html`<dl class="tiles">
    ${tile(number(calls), calls === 1 ? 'tool call' : 'tool calls')}
    ${tile(number(reminders), reminders === 1 ? 'reminder' : 'reminders', reminders > 0 ? 'warm' : '')}
    ${timeouts === undefined ? tile('–', 'timeouts: not recorded') : tile(number(timeouts), timeouts === 1 ? 'timeout' : 'timeouts', timeouts > 0 ? 'hot' : '')}
    ${tile(number(otherErrors), otherErrors === 1 ? 'other error' : 'other errors')}
    ${failedRequests > 0 && tile(number(failedRequests), failedRequests === 1 ? 'failed request' : 'failed requests', 'hot')}
    ${busyMs === undefined ? tile('–', 'times not recorded') : tile(duration(busyMs.all), `busy: model ${duration(busyMs.model)}, tools ${duration(busyMs.tools)}`)}
    ${tokens === undefined ? tile('–', 'tokens not recorded') : tile(number(tokens.input), withMissing('input tokens', tokens.requestsWithout, requests))}
    ${tokens !== undefined && tile(number(tokens.output), 'output tokens')}
    ${cost !== undefined && tile(cost.sum === undefined ? '–' : money(cost.sum), cost.unpriced.length === 0 ? 'at the prices given' : `no price given for ${cost.unpriced.join(', ')}`)}
  </dl>`
}

function withMissing(what: string, missing: number, requests: number): string {
  return missing === 0 ? what : `${what}; ${number(missing)} of ${counted(requests, 'request')} did not say`
}

/** Longer values are written smaller. */
const LONG = 9

export function tile(value: string, label: string, tone = ''): Html {
  return html`<div class="tile ${tone}">
    <dt>${label}</dt>
    <dd class="${value.length > LONG ? 'long' : ''}">${value}</dd>
  </div>`
}
