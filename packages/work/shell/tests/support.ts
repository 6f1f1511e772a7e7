import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import Shell, { type Config, type ShellResult } from '@loopguard/shell'
import * as bash from '@loopguard/shell/bash'
import * as shellInvariant from '@loopguard/shell/invariant'
import { CallId } from '@loopguard/llm'
import { createHarness, type Harness, type HarnessOptions, type HarnessPlugin, mountInvariants } from '@loopguard/testkit'
import type { ToolAgent, ToolExecutionResult } from '@loopguard/tools'
import { onTestFinished, vi } from 'vitest'

/** Short, so that what ignores SIGTERM does not hold a test up. */
export const GRACE_MS = 400

/** A context with the service and its companion; it unloads with the test, which fails when a contract was broken. */
export async function shellHost(config: Partial<Config> = {}): Promise<Context> {
  const ctx = new Context()
  const watch = await mountInvariants(ctx)
  onTestFinished(async () => {
    await ctx.fiber.dispose()
    watch.assertNone()
  })
  await ctx.plugin(Shell, { graceMs: GRACE_MS, ...config })
  await ctx.plugin(shellInvariant)
  return ctx
}

/** A whole host with the tool `bash`. */
export async function bashHost({ plugins = [], ...options }: HarnessOptions & { shell?: Partial<Config> } = {}): Promise<Harness> {
  const mine: HarnessPlugin[] = [[Shell, { graceMs: GRACE_MS, ...options.shell }], shellInvariant, bash]
  const harness = await createHarness({ ...options, plugins: [...mine, ...plugins] })
  onTestFinished(() => harness.dispose())
  return harness
}

let calls = 0

/** One call of a tool, as the loop makes it. */
export function call(
  ctx: Context,
  tool: string,
  args: object,
  { signal = new AbortController().signal, agent }: { signal?: AbortSignal; agent?: ToolAgent } = {},
): Promise<ToolExecutionResult> {
  return ctx.tools.execute({ callId: CallId(`call-${++calls}`), name: tool, arguments: args, signal, agent })
}

export const textOf = ({ content }: Pick<ToolExecutionResult, 'content'>): string =>
  content.map((block) => (block.type === 'text' ? block.text : block.type)).join('')

/** How to run a program of `programs/`, from the sources or on the built `lib`. */
export function program(file: string): string[] {
  return [
    ...(process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']),
    '--import',
    pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
    fileURLToPath(new URL(`programs/${file}`, import.meta.url)),
  ]
}

export const programLine = (file: string): string => [process.execPath, ...program(file)].map((part) => `'${part}'`).join(' ')

let markers = 0

/** A command that sleeps longer than any test waits, and that nothing else on this machine runs. */
export function longSleep(): string {
  return `sleep 90.${process.pid}${String(++markers).padStart(4, '0')}`
}

/** The processes that run that command. A zombie does not run. */
export function pidsOf(command: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return args === command ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

export const running = (command: string): number => pidsOf(command).length

/**
 * Timers that the test can push on with `vi.advanceTimersByTime`, so that a timeout comes when the command is where it should be, and not
 * when a busy machine lets it. They go on by themselves, too.
 */
export function pushedClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
}

/** Resolves with the process group of the next command. */
export function spawned(ctx: Context): Promise<number> {
  return new Promise((resolve) => {
    const off = ctx.on('shell/spawn', ({ pid }) => {
      off()
      resolve(pid)
    })
  })
}

export const isGone = (pid: number): boolean => !existsSync(`/proc/${pid}`)

/** Starts a command in a session of its own, and goes on when it has left the group. */
export function leaving(command: string): string {
  const mark = `${tmpdir()}/loopguard-left-${command.replace(/\D+/g, '-')}`
  onTestFinished(() => rmSync(mark, { force: true }))
  return `setsid bash -c ': > ${mark}; exec ${command}' & until [ -e ${mark} ]; do sleep 0.01; done`
}

/** Settles when the condition holds; fails with the words after a minute. */
export async function until(condition: () => boolean, words: string): Promise<void> {
  for (const end = performance.now() + 60_000; !condition(); await new Promise((resolve) => setImmediate(resolve))) {
    if (performance.now() > end) throw new Error(`in vain: ${words}`)
  }
}

/** Milliseconds that the work takes, and what came of it. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
  const start = performance.now()
  const value = await work()
  return { ms: performance.now() - start, value }
}

export const outcome = ({ exitCode, signal, timedOut, aborted }: ShellResult): unknown[] => [exitCode, signal, timedOut, aborted]

export async function codeOfRejection(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'no rejection'
}
