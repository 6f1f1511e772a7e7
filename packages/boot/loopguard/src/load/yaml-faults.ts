import type { Document, YAMLError } from 'yaml'

interface SyntaxFault {
  readonly offset: number
  readonly cause: string
}

/** Behind these the parser has lost its way, and what it says next is about itself. */
const DERAILS = new Set(['TAB_AS_INDENT', 'UNEXPECTED_TOKEN'])

/** What the parser complains of, in words that say what to write instead; what follows from an earlier fault is left out. */
export function faultsOfSyntax({ errors, warnings }: Document, text: string): SyntaxFault[] {
  const first = errors.findIndex(({ code }) => DERAILS.has(code))
  const own = first < 0 ? [...errors, ...warnings] : errors.slice(0, first + 1)
  return own.map((error) => faultOf(error, text))
}

function faultOf({ code, message, pos: [offset] }: YAMLError, text: string): SyntaxFault {
  const tab = tabBefore(text, offset)
  if (DERAILS.has(code) && tab !== undefined) return { offset: tab, cause: 'a tab indents this line: YAML is indented with spaces' }
  if (code === 'UNEXPECTED_TOKEN' && /\$\{*$/.test(text.slice(0, offset)) && text[offset] === '{')
    return {
      offset: offset - 1,
      cause: '`${` begins a map here: put the text in quotes, or write `!!js process.env.NAME` to read the environment',
    }
  if (code === 'MULTIPLE_DOCS') return { offset, cause: 'a second document begins here: expected one list of rows in a file' }
  if (code === 'BAD_SCALAR_START') return { offset, cause: `${message}: put the text in quotes` }
  return { offset, cause: message }
}

/** Where the first tab is in the white space that the line begins with, list dashes included. */
function tabBefore(text: string, offset: number): number | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const [indent = ''] = /^[\s-]*/.exec(text.slice(start, text.indexOf('\n', start) + 1 || undefined)) ?? []
  const at = indent.replace(/\n$/, '').indexOf('\t')
  return at < 0 ? undefined : start + at
}
