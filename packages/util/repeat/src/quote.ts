/** Anything that JSON writes in another way, or that only a look at its neighbour could tell. */
const MAY_NEED_ESCAPES = /[^ !#-[\]-\ud7ff\ue000-\uffff]/
/** Up to this length a loop beats the expression. */
const SHORT = 40
const MAX_HEADS = 512
let heads = new Map<string, string>()

/** As `JSON.stringify` writes a text: always well-formed, since it escapes lone surrogates. */
export function quote(text: string): string {
  return (text.length <= SHORT ? isPrintable(text) : !MAY_NEED_ESCAPES.test(text)) ? `"${text}"` : JSON.stringify(text)
}

function isPrintable(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit > 0x7e) return false
  }
  return true
}

/** `"key":`. The short keys of the calls before are remembered; that is bounded, and affects speed alone. */
export function head(key: string): string {
  const known = heads.get(key)
  if (known !== undefined) return known
  if (heads.size >= MAX_HEADS) heads = new Map()
  const made = `${quote(key)}:`
  if (key.length <= SHORT) heads.set(key, made)
  return made
}

/** The same text in one piece. A text that was put together is a tree of its parts, and keeps alive what they were cut out of. */
export function flat(text: string): string {
  return Number.isNaN(text.charCodeAt(0)) ? '' : text
}
