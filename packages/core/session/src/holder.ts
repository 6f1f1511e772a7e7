import { readFileSync, statSync } from 'node:fs'

/** Who holds a lock. */
export interface Holder {
  /** Names this very lock, not the process. */
  readonly token: string
  /** False when no process can hold it any more. */
  readonly isAlive: boolean
  /** For a message. */
  readonly shown: string
}

/** What this process writes into its locks. */
export function describeSelf(token: string): string {
  return JSON.stringify({ pid: process.pid, start: (ownStart ??= startOf(process.pid)?.start), token })
}

let ownStart: string | undefined

/** Reads a lock; undefined when there is none. */
export function readHolder(path: string): Holder | undefined {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const { pid, start, token } = parse(text)
  if (typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 && typeof token === 'string' && TOKEN.test(token)) {
    return { token, isAlive: isRunning(pid, typeof start === 'string' ? start : undefined), shown: `in process ${pid}` }
  }
  return illegible(path)
}

const TOKEN = /^[0-9a-f]{8}$/

function parse(text: string): { pid?: unknown; start?: unknown; token?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Where there are no hard links a lock is empty for a moment after it was made; later it can only be what a power failure left. */
const MOMENT_MS = 10_000

function illegible(path: string): Holder | undefined {
  try {
    const { mtimeMs, ino } = statSync(path)
    return { token: (ino % 2 ** 32).toString(16).padStart(8, '0'), isAlive: Date.now() - mtimeMs < MOMENT_MS, shown: 'in some process' }
  } catch {
    return undefined
  }
}

/** Whether a process is there that has this id, and this start when it is known. */
export function isRunning(pid: number, start?: string): boolean {
  const found = startOf(pid)
  if (found !== undefined) return !found.isDead && (start === undefined || start === found.start)
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    // EPERM: it is there, and somebody else's.
    return (thrown as { code?: unknown }).code === 'EPERM'
  }
}

/** A process id is used again some day, but not with the same start in the same boot. Undefined where there is no /proc. */
function startOf(pid: number): { readonly start: string; readonly isDead: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the name in parentheses, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return { start: `${boot} ${fields[19]}`, isDead: fields[0] === 'Z' || fields[0] === 'X' }
  } catch {
    return undefined
  }
}
