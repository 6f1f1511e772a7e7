import { Readable, Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk'

/**
 * The service `acpWire`: what the client is spoken to through. Whoever mounts this plugin may provide it before; without one it is
 * standard input and output.
 */
export interface Wire {
  readonly input: Readable
  readonly output: Writable
  /** Text is sent as the model says it, not once it is in the log. What a failed attempt has said cannot be taken back. Default `false`. */
  readonly deltas?: boolean
  /** The client is answered from then on. Default: from the start of the row on. */
  readonly ready?: Promise<void>
}

/** One end of a wire, as the protocol library takes it. */
export interface WireEnd {
  readonly stream: Stream
  /** Settles when all that was written so far has left, or cannot leave. Never rejects. */
  written(): Promise<void>
  hangUp(): void
}

/** @param broken - is told when the client cannot be written to. */
export function endOf({ input, output, ready }: Wire, broken: (error: Error) => void): WireEnd {
  output.on('error', broken)
  let last: Promise<unknown> = Promise.resolve()
  const bytes = new WritableStream<Uint8Array>({
    write(chunk) {
      const written = new Promise<void>((resolve, reject) => output.write(chunk, (error) => (error ? reject(error) : resolve())))
      last = written.catch(() => {})
      return written
    },
  })
  const { readable, writable } = ndJsonStream(bytes, Readable.toWeb(input) as ReadableStream<Uint8Array>)
  return {
    // What a client sends before that waits.
    stream: { readable: readable.pipeThrough(new TransformStream({ start: () => ready })), writable },
    async written() {
      for (let waited; waited !== last; await last) waited = last
    },
    hangUp: () => void output.end(),
  }
}

/** Standard input and output. What others print goes to standard error from now on, until they are given back. */
export function takeStandardStreams(): { readonly wire: Wire; readonly giveBack: () => void } {
  const { stdin, stdout, stderr } = process
  const own = Object.getOwnPropertyDescriptor(stdout, 'write')
  const send = stdout.write.bind(stdout) as (chunk: Uint8Array, done: (error?: Error | null) => void) => boolean
  const output = new Writable({ write: (chunk: Uint8Array, _encoding, done) => void send(chunk, done) })
  const broken = (error: Error): void => void output.destroy(error)
  stdout.on('error', broken)
  stdout.write = stderr.write.bind(stderr)
  const giveBack = (): void => {
    if (own === undefined) Reflect.deleteProperty(stdout, 'write')
    else Object.defineProperty(stdout, 'write', own)
    stdout.off('error', broken)
  }
  return { wire: { input: stdin, output }, giveBack }
}
