/**
 * What is drawn, as plain data: a page that is drawn at once has it as SVG, and one that draws a part at a time has it as JSON. `x` and
 * `width` are percents of the picture's width, `y` and `height` pixels, so that text keeps its size on any screen.
 */
export type Mark = Box | Words | Rule | Reminder

/** Classes are names in the page's style sheet, never text of a log. */
export type Box = readonly [kind: 'box', x: number, y: number, width: number, height: number, classes: string, of: Subject]
type Words = readonly [kind: 'words', x: number, y: number, text: string, classes: string, within: number]
type Rule = readonly [kind: 'rule', x1: number, y1: number, x2: number, y2: number, classes: string]
type Reminder = readonly [kind: 'reminder', x: number, y: number, of: Subject]

/** What a mark is of: a call, by its place, to which it leads; or what is to be read beside it. */
export type Subject = number | string

export interface Picture {
  /** For those who do not see it. */
  readonly label: string
  readonly height: number
  /** In pixels, at most; a picture without it is as wide as the page. */
  readonly width?: number
  /** Names of rows of {@link ROW} pixels below {@link HEAD}, or what stands beside the lines of a chart. */
  readonly rows?: readonly string[]
  readonly axis?: readonly (readonly [y: number, text: string, classes: string])[]
  readonly marks: readonly Mark[]
}

export const ROW = 26
export const BAR = 18
export const HEAD = 40

/** Two digits behind the point will do for a percent. */
export function round(value: number): number {
  return Math.round(value * 100) / 100
}
