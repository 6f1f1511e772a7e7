import type { Part } from '../draw/parts.ts'
import { counted, number } from '../numbers.ts'
import { html, type Html } from './html.ts'

const HEIGHT = 56
const LEAST_HEIGHT = 6

/** All parts of a session, each as wide as it has calls, as high and as hot as its longest run; and the controls to choose one. */
export function stripOf(parts: readonly Part[], chosen: number, thresholds: readonly number[]): Html {
  const total = parts.at(-1)?.to ?? 1
  const most = parts.reduce((high, { longest }) => Math.max(high, longest), 1)
  return html`<p class="mut">
      ${counted(parts.length, 'part')} of ${counted(total, 'call')}, each as high as its longest run, and the hotter the more thresholds
      that reaches. Choose one:
    </p>
    <svg id="strip" class="drawing" role="img" aria-label="Longest run of each part" width="100%" height="${HEIGHT}">
      ${parts.map(({ from, to, label, longest }, index) => {
        const height = LEAST_HEIGHT + ((HEIGHT - LEAST_HEIGHT) * Math.log1p(longest)) / Math.log1p(most)
        return html`<rect
          data-part="${index}"
          x="${percent(from, total)}%"
          width="${percent(to - from, total)}%"
          y="${Math.round(HEIGHT - height)}"
          height="${Math.round(height)}"
          class="${heatOf(longest, thresholds)}"
          ><title>${label}: longest run ${number(longest)}</title></rect
        >`
      })}
    </svg>
    <p class="chooser">
      <button type="button" id="before" aria-label="the part before">‹</button
      ><input id="part" type="range" min="0" max="${parts.length - 1}" value="${chosen}" aria-label="part" /><button
        type="button"
        id="after"
        aria-label="the part after"
      >
        ›
      </button>
      <output id="which" for="part"></output>
    </p> `
}

function percent(part: number, total: number): number {
  return Math.round((100_000 * part) / total) / 1000
}

/** Which thresholds a run has reached. */
export function heatOf(longest: number, thresholds: readonly number[]): string {
  const reached = thresholds.filter((threshold) => longest >= threshold).length
  return `heat${reached === 0 ? 0 : reached === thresholds.length ? 3 : reached === 1 ? 1 : 2}`
}
