/** At most so many characters, and never half of one that takes two units. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Names come from a model or a log, and may have any length. */
export function brief(name: string): string {
  return shortened(name, 100)
}
