import { Worker } from 'node:worker_threads'
import { codeOf } from '@loopguard/kit'
import { isConvertible, MAX_HTML_CHARS } from './size.ts'
import type { Conversion } from './worker.ts'

export interface Markdown {
  readonly text: string
  /** Whether the document was longer than what is converted. */
  readonly truncated: boolean
}

/** Of the thread: a converter that needs more fails, and nothing else does. */
const LIMITS = { maxOldGenerationSizeMb: 512, stackSizeMb: 1 }

/**
 * Converts HTML to Markdown, in a thread of its own that the signal ends wherever it is. A document that is too much for the
 * converter, by its tags or by its memory, becomes text without markup.
 */
export async function markdownOf(html: string, signal: AbortSignal): Promise<Markdown> {
  const beginning = html.slice(0, MAX_HTML_CHARS)
  const truncated = beginning.length < html.length
  if (isConvertible(beginning)) {
    try {
      return { text: await inWorker({ html: beginning, convert: true }, signal), truncated }
    } catch (thrown) {
      if (codeOf(thrown) !== 'ERR_WORKER_OUT_OF_MEMORY') throw thrown
    }
  }
  return { text: await inWorker({ html: beginning, convert: false }, signal), truncated }
}

/** From the sources the worker is TypeScript, which Node before 22.18 takes with a flag only. */
const isSource = import.meta.url.endsWith('.ts')
const file = new URL(isSource ? './worker.ts' : './worker.js', import.meta.url)
const execArgv =
  isSource && process.allowedNodeEnvironmentFlags.has('--experimental-strip-types') ? ['--experimental-strip-types', '--no-warnings'] : []

/** Settles when the thread has ended. */
export async function inWorker(workerData: Conversion, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  const worker = new Worker(file, { workerData, execArgv, env: {}, resourceLimits: LIMITS })
  let text: string | undefined
  const end = (): void => void worker.terminate()
  signal.addEventListener('abort', end, { once: true })
  try {
    await new Promise<void>((resolve, reject) => {
      worker.once('message', (message: string) => (text = message))
      worker.on('error', reject)
      worker.once('exit', () => resolve())
    })
  } finally {
    signal.removeEventListener('abort', end)
  }
  if (text === undefined) {
    signal.throwIfAborted()
    throw new Error('the converter ended without an answer')
  }
  return text
}
