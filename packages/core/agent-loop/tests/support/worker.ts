import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import type { SessionEvent } from '@loopguard/session'

/** Bundles `programs/worker.ts`, so that each of many workers starts at once. Returns the file. */
export async function bundleWorker(directory: string): Promise<string> {
  const conditions = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['@loopguard/source']
  await build({
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true, resolve: { conditions: [...conditions, 'module', 'node', 'production'] } },
    build: {
      ssr: fileURLToPath(new URL('../programs/worker.ts', import.meta.url)),
      outDir: directory,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: { output: { entryFileNames: 'worker.mjs' } },
    },
  })
  return join(directory, 'worker.mjs')
}

/** A process of `programs/worker.ts`. */
export class Worker {
  /** How many events it has reported. */
  reported = 0
  private output = ''
  private errors = ''
  private readonly child: ChildProcess
  private readonly closed: Promise<unknown>
  private wanted = { count: Infinity, reach: (): void => {} }

  constructor(program: string, directory: string, seed: number, durable = false) {
    this.child = spawn(process.execPath, [program, directory, String(seed), ...(durable ? ['durable'] : [])], { stdio: 'pipe' })
    this.closed = once(this.child, 'close')
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.take(chunk))
    this.child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (this.errors += chunk))
  }

  /** Lets it work until it has reported `count` events and `ms` more have passed, and kills it. Returns what it reported. */
  async killAfter(count: number, ms: number): Promise<SessionEvent[]> {
    const reached = new Promise<void>((resolve) => (this.wanted = { count, reach: resolve }))
    this.child.stdin?.write('go')
    if (count > 0) await Promise.race([reached, this.closed])
    if (ms > 0) await sleep(ms)
    return this.kill()
  }

  async kill(): Promise<SessionEvent[]> {
    this.child.kill('SIGKILL')
    await this.closed
    if (this.child.signalCode !== 'SIGKILL') throw new Error(`the worker ended by itself:\n${this.errors}`)
    const lines = this.output.split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as SessionEvent)
  }

  private take(chunk: string): void {
    this.output += chunk
    this.reported += chunk.split('\n').length - 1
    if (this.reported >= this.wanted.count) this.wanted.reach()
  }
}
