import type { Mark, Picture, Subject } from '../draw/marks.ts'
import { html, type Html } from './html.ts'

/** What is to be read beside a call in a picture, by its place. */
export type TitleOf = (call: number) => string

/** What pictures fill boxes with. */
export const PATTERNS: Html = html`<svg width="0" height="0" aria-hidden="true">
  <defs>
    <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="6" height="6" class="hatch-ground" />
      <rect width="2.5" height="6" class="hatch-line" />
    </pattern>
    <pattern id="gap" width="8" height="8" patternUnits="userSpaceOnUse">
      <rect width="8" height="8" class="gap-ground" />
      <path d="M0 8L8 0" class="gap-line" />
    </pattern>
  </defs>
</svg>`

/** A picture as SVG. `assets/parts.js` does the same in a browser. */
export function painted({ label, height, width, rows, axis, marks }: Picture, titleOf: TitleOf): Html {
  const drawing = html`<svg class="drawing" role="img" aria-label="${label}" height="${height}" width="${width ?? '100%'}">
    ${marks.map((mark) => markOf(mark, titleOf))}
  </svg>`
  if (rows !== undefined)
    return html`<div class="picture">
      <ol class="rows" aria-hidden="true">
        ${rows.map((row) => html`<li title="${row}">${row}</li>`)}
      </ol>
      ${drawing}
    </div>`
  return html`<div class="picture">
    <svg class="axis" height="${height}" aria-hidden="true">
      ${(axis ?? []).map(([y, text, classes]) => html`<text x="100%" y="${y + 4}" class="tick end ${classes}">${text}</text>`)}</svg
    >${drawing}
  </div>`
}

function markOf(mark: Mark, titleOf: TitleOf): Html {
  switch (mark[0]) {
    case 'box': {
      const [, x, y, width, height, classes, of] = mark
      return linked(
        of,
        html`<rect x="${x}%" y="${y}" width="${width}%" height="${height}" class="${classes}">${titled(of, titleOf)}</rect>`,
      )
    }
    case 'words': {
      const [, x, y, text, classes, within] = mark
      if (within === 0) return html`<text x="${x}%" y="${y}" class="${classes}">${text}</text>`
      // Cut off where its room ends.
      return html`<svg x="${x}%" width="${within}%" height="${y + 6}"><text x="6" y="${y}" class="${classes}">${text}</text></svg>`
    }
    case 'rule': {
      const [, x1, y1, x2, y2, classes] = mark
      return html`<line x1="${x1}%" y1="${y1}" x2="${x2}%" y2="${y2}" class="${classes}" />`
    }
    case 'reminder': {
      const [, x, y, of] = mark
      return linked(
        of,
        html`<svg x="${x}%" y="${y}" class="at">
          <path d="M0-6l6 6-6 6-6-6z" class="reminder">${titled(of, titleOf, 'reminder after ')}</path>
        </svg>`,
      )
    }
  }
}

function titled(of: Subject, titleOf: TitleOf, before = ''): Html {
  return html`<title>${typeof of === 'string' ? of : before + titleOf(of)}</title>`
}

/** To the row of a call on the same page. */
function linked(of: Subject, mark: Html): Html {
  return typeof of === 'number' ? html`<a href="#c${of + 1}" tabindex="-1">${mark}</a>` : mark
}
