import type { TerminalStream } from '../live/bottom-line.ts'

/**
 * Takes over what others write to streams of the terminal, line by line: it would tear what is being typed.
 * @returns gives the streams back; what has not become a line goes out as it is.
 */
export function captured(streams: readonly TerminalStream[], print: (line: string) => void): () => void {
  const restore = streams.map((stream) => {
    const own = Object.getOwnPropertyDescriptor(stream, 'write')
    let begun = ''
    stream.write = ((chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
      const lines = (begun + Buffer.from(chunk as string).toString()).split('\n')
      begun = lines.pop() ?? ''
      for (const line of lines) print(line)
      const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined
      if (done !== undefined) process.nextTick(done)
      return true
    }) as TerminalStream['write']
    return () => {
      if (own === undefined) delete (stream as { write?: unknown }).write
      else Object.defineProperty(stream, 'write', own)
      if (begun !== '') stream.write(`${begun}\n`)
    }
  })
  return () => {
    for (const each of restore) each()
  }
}
