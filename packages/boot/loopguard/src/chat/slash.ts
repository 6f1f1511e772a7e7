/** What a conversation can be told beside what is said in it. */
export interface SlashCommands {
  /** Returns what is to be printed. */
  readonly run: () => readonly string[] | Promise<readonly string[]>
  readonly does: string
}

/** A line as it was typed: something to say, a command, or nothing. `//` begins a text that begins with `/`. */
export function readLine(line: string): { readonly say: string } | { readonly command: string } | undefined {
  if (line.trim() === '') return undefined
  if (line.startsWith('//')) return { say: line.slice(1) }
  return line.startsWith('/') ? { command: line.slice(1).trim() } : { say: line }
}

/** For the line editor: the commands that begin as the line does. */
export function completed(line: string, names: readonly string[]): [string[], string] {
  return [line.startsWith('/') ? names.map((name) => `/${name}`).filter((name) => name.startsWith(line)) : [], line]
}
