import { escaped } from '../../show/terminal.ts'

/** Text that is markup. Only this file makes it, so that everything else on a page is escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

export type Part = Html | string | number | undefined | false | readonly Part[]

/**
 * Markup with values in it, for content and for attributes in double quotes. Values are text, except what is `Html` already. A line break
 * of the source, with the space around it, is layout: it stands for a space between words, and for nothing beside a tag or a value.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(literalsOf(parts).reduce((text, part, index) => text + textOf(values[index - 1]) + part))
}

const literals = new WeakMap<TemplateStringsArray, readonly string[]>()

function literalsOf(parts: TemplateStringsArray): readonly string[] {
  const known =
    literals.get(parts) ?? parts.map((part) => part.replace(/\s*\n\s*/g, (space, at: number) => layoutOf(part, at, space.length)))
  literals.set(parts, known)
  return known
}

function layoutOf(part: string, at: number, length: number): string {
  const [before, after] = [part[at - 1] ?? '>', part[at + length] ?? '<']
  return before === '>' || after === '<' || after === '>' ? '' : ' '
}

function textOf(value: Part): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(textOf).join('')
  return escapedHtml(String(value))
}

/** Characters that a browser would read as markup, that control a terminal, or that turn the direction of text: none is left as it is. */
function escapedHtml(text: string): string {
  return visible(text).replace(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** Control and bidirectional characters as they are written in source; half a character as the sign for one that cannot be shown. */
export function visible(text: string): string {
  return escaped(text).toWellFormed()
}

/** Text between the tags of a `script` that no browser runs: neither ends the element, nor hides its end in a comment. */
export function json(value: unknown): Html {
  return new Html(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`))
}

/** What this project wrote itself: a style sheet or a script. @throws Error for a text that would end its own element. */
export function trusted(text: string): Html {
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error('a style sheet or script of the report holds what would end its element')
  return new Html(text)
}

/** No `html` of its own: a bundler takes the end of a script in a tagged template for a danger, and rewrites the template. */
export function scriptElement(content: Html, attributes = ''): Html {
  return new Html(`<script${attributes === '' ? '' : ` ${attributes}`}>${content.text}</script>`)
}
