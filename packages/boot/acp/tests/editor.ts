import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable, Transform, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import {
  client,
  type ClientContext,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk'
import { onTestFinished, vi } from 'vitest'
import { type Frame, wireWithTap } from './support.ts'

// Each test starts two processes, and a machine may be busy.
vi.setConfig({ testTimeout: 120_000 })

const { resolve } = createRequire(import.meta.url)
const COMMAND = dirname(resolve('loopguard/package.json'))
const SOURCES = ['--conditions=@loopguard/source', '--import', pathToFileURL(resolve('tsx')).href, join(COMMAND, 'src/bin.ts')]
export const COMMAND_LINE: readonly string[] = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [join(COMMAND, 'bin.js')] : SOURCES

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Editor {
  readonly child: ChildProcess
  readonly acp: ClientContext
  readonly frames: readonly Frame[]
  /** What came on standard output, as it came. */
  readonly out: () => string
  readonly err: () => string
  readonly exited: Promise<Exit>
  readonly open: (cwd: string) => Promise<string>
  readonly prompt: (sessionId: string, words: string) => Promise<unknown>
  /** Ends the agent's input, as an editor does that goes. */
  readonly leave: () => void
}

export interface EditorOptions {
  readonly args?: readonly string[]
  readonly permission?: () => RequestPermissionResponse
  /** The command is started by a shell that keeps its standard input open, and that writes the id of its process to `outer.pid`. */
  readonly keepsInput?: boolean
}

/** Starts the command in the folder as an editor does, and speaks to it with the library's client. */
export async function editor(folder: string, { args = ['acp'], permission, keepsInput = false }: EditorOptions = {}): Promise<Editor> {
  const env = { ...process.env, NODE_OPTIONS: undefined, FORCE_COLOR: undefined }
  const line = [process.execPath, ...COMMAND_LINE, ...args]
  const [file = '', ...rest] = keepsInput
    ? ['sh', '-c', 'exec 7<&0; "$@" <&7 7<&- & echo $! > outer.pid; exec sleep 90', 'sh', ...line]
    : line
  const child = spawn(file, rest, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const exited = new Promise<Exit>((settle) => child.on('exit', (code, signal) => settle({ code, signal })))
  let [out, err] = ['', '']
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const { output, frames } = wireWithTap()
  const raw = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      out += chunk.toString()
      done(null, chunk)
    },
  })
  child.stdout.pipe(raw).pipe(output)
  child.stdin.on('error', () => {})
  const connection = client({ name: 'test' })
    .onRequest(methods.client.session.requestPermission, () => permission?.() ?? { outcome: { outcome: 'cancelled' } })
    .onNotification(methods.client.session.update, () => {})
    .connect(ndJsonStream(bytesTo(child.stdin), Readable.toWeb(output) as ReadableStream<Uint8Array>))
  onTestFinished(async () => {
    connection.close()
    child.stdin.destroy()
    child.kill('SIGKILL')
    await exited
  })
  try {
    await connection.agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
  } catch {
    throw new Error(`exited with ${(await exited).code}: ${err}`)
  }
  return {
    child,
    acp: connection.agent,
    frames,
    out: () => out,
    err: () => err,
    exited,
    open: async (cwd) => (await connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId,
    prompt: (sessionId, words) =>
      connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: words }] }),
    leave: () => void child.stdin.end(),
  }
}

/** Not by `Writable.toWeb`: on Node 22 it leaves a rejection that nobody handles when the stream is destroyed. What a client says that has gone is lost. */
function bytesTo(stream: Writable): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (chunk) => new Promise((resolve) => stream.write(chunk, () => resolve())),
  })
}

/** A fresh folder with these files in it. */
export function folder(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'loopguard-acp-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), content)
  }
  return path
}

/** The rows of a host with a scripted model and the plugin `tools.mjs`; `more` comes behind. */
export const rows = (more: string): string => `
- { id: llm, name: '@loopguard/llm' }
- { id: session, name: '@loopguard/session', config: { directory: sessions } }
- { id: tools, name: '@loopguard/tools' }
- { id: repeat-tool-reminder, name: '@loopguard/repeat-tool-reminder' }
- { id: model, name: '@loopguard/testkit/scripted-model', config: { script: script.yml } }
- { id: mine, name: ./tools.mjs }
${more}`

export const PATTERN = `
- id: agent-loop
  name: '@loopguard/agent-loop'
  config: { agents: [{ id: worker, provider: scripted, model: m, system: Be brief., prompt: never sent }] }
`

/** The events of the only log in the folder. */
export function logOf(path: string, id: string): { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[] {
  const text = readFileSync(join(path, 'sessions', `${id}.jsonl`), 'utf8')
  if (!text.endsWith('\n')) throw new Error('the log ends in the middle of a line')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ReturnType<typeof logOf>[number])
}

export const locks = (path: string): string[] => readdirSync(join(path, 'sessions')).filter((name) => name.endsWith('.lock'))

/** The processes whose command line or folder names that path. A zombie does not run. */
export function processesOf(mark: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return line.includes(mark) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

export function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
}

/** Whether the process is there and runs. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
