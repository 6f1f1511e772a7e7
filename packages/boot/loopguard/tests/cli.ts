import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { execa, type ResultPromise } from 'execa'
import { afterAll, vi } from 'vitest'

// A child takes about a second, and more on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 })

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

const SOURCE = [
  '--conditions=@loopguard/source',
  '--import',
  pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
  join(PACKAGE, 'src/bin.ts'),
]
/** What Node is told to run. */
export const COMMAND = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [join(PACKAGE, 'bin.js')] : SOURCE

export interface ChildOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The descriptor of a file. */
  readonly stdout?: number
  /** What is written to its standard input. */
  readonly input?: string
}

type Child = ResultPromise<{ reject: false; stdin: 'ignore' }>

/** Starts the command as a real process, from the sources or from `lib`, with no colours asked for. */
export function start(args: readonly string[], { cwd = ROOT, env = {}, stdout, input }: ChildOptions = {}): Child {
  const plain = { NO_COLOR: undefined, FORCE_COLOR: undefined, NODE_OPTIONS: undefined, ...env }
  return execa({ env: plain, cwd })(process.execPath, [...COMMAND, ...args], {
    reject: false,
    ...(input === undefined ? { stdin: 'ignore' } : { input }),
    // The command itself is to end.
    forceKillAfterDelay: false,
    // Any descriptor will do, whatever the types say.
    ...(stdout !== undefined && { stdout: stdout as 1 }),
  }) as unknown as Child
}

export interface Ended {
  readonly code: number | undefined
  readonly out: string
  readonly err: string
}

export async function run(args: readonly string[], options?: ChildOptions): Promise<Ended> {
  const { exitCode, stdout, stderr } = await start(args, options)
  return { code: exitCode, out: stdout, err: stderr }
}

/** Waits until the child has printed `text`, on either stream. */
export function printed(child: Child, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = ''
    const look = (chunk: Buffer): void => {
      seen += chunk.toString()
      if (seen.includes(text)) resolve()
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    void child.then(() => reject(new Error(`ended without printing ${JSON.stringify(text)}:\n${seen}`)))
  })
}

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/**
 * A fresh folder outside the repository, with these files in it.
 * @param name - how its name begins; if not given, with all that has to be escaped in a URL.
 */
export function folder(files: Readonly<Record<string, string>>, name = 'loop guard #50%-'): string {
  const path = mkdtempSync(join(tmpdir(), name))
  folders.push(path)
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), content)
  }
  return path
}

/** The rows of the host, for a `cordis.yml` in a test; a prompt and a script of one's own follow. */
export const HOST = `
- { id: llm, name: '@loopguard/llm' }
- { id: session, name: '@loopguard/session' }
- { id: tools, name: '@loopguard/tools' }
- { id: timeout-policy, name: '@loopguard/timeout-policy' }
- { id: repeat-tool-reminder, name: '@loopguard/repeat-tool-reminder' }
- { id: model, name: '@loopguard/testkit/scripted-model', config: { script: script.yml } }
`

export const AGENT = `
- id: agent-loop
  name: '@loopguard/agent-loop'
  config: { agents: [{ id: worker, provider: scripted, model: m, prompt: go }] }
`
