import { closeSync, constants, lstatSync, mkdirSync, openSync, readFileSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { HarnessError } from '@loopguard/kit'
import type { SessionId } from '@loopguard/llm'
import type { SessionBackend, StoredSession } from './backend.ts'
import { DurableLogFile } from './durable-log-file.ts'
import type { SessionEvent } from './events.ts'
import { badLog, isErrno, readFailed, sessionExists, sessionNotFound, sessionOpen, writeFailed } from './failures.ts'
import { isLock, type Lock, sweepBeside, takeLock } from './lock.ts'
import { LogFile, type OpenFile } from './log-file.ts'
import { readLog } from './read-log.ts'
import { LOG_ENDING, storedIn } from './stored-logs.ts'
import { SyncQueue } from './sync-queue.ts'

/** The logs of one directory: `<id>.jsonl` each, and `<id>.lock` beside it while a process has it open. */
export class LogDirectory implements SessionBackend {
  readonly path: string
  /** Of a durable directory. */
  private readonly syncs: SyncQueue | undefined

  /** @throws HarnessError `BAD_SESSION_DIRECTORY` for a blank path, `SESSION_WRITE_FAILED` when there is no folder and none can be made. */
  constructor(path: string, { durable = false }: { readonly durable?: boolean } = {}) {
    if (path.trim() === '') {
      throw new HarnessError(`session: \`directory\` must be the path of a folder, got ${JSON.stringify(path)}`, 'BAD_SESSION_DIRECTORY')
    }
    this.path = resolve(path)
    this.syncs = durable ? new SyncQueue() : undefined
    try {
      mkdirSync(this.path, { recursive: true })
    } catch (cause) {
      throw writeFailed(`the session directory ${this.path}`, cause)
    }
  }

  /** @throws HarnessError `SESSION_EXISTS`, `SESSION_OPEN`, `SESSION_WRITE_FAILED`. */
  create(id: SessionId): LogFile {
    const file = this.fileOf(id)
    if (isBorn(file)) throw sessionExists(id)
    const lock = this.lock(id)
    try {
      // Somebody may have created it, and closed it again, since.
      if (isBorn(file)) throw sessionExists(id)
      return this.open(openAt(file, 0), lock)
    } catch (refused) {
      lock.release()
      throw refused
    }
  }

  /** @throws HarnessError `SESSION_NOT_FOUND`, `SESSION_OPEN`, `BAD_LOG`, `SESSION_READ_FAILED`, `SESSION_WRITE_FAILED`. */
  async load(id: SessionId): Promise<{ readonly events: SessionEvent[]; readonly log: LogFile }> {
    const file = this.fileOf(id)
    if (!isBorn(file)) throw sessionNotFound(id, `in ${this.path}`)
    const lock = this.lock(id)
    sweepBeside(this.lockOf(id))
    try {
      const { events, size } = await readLog(file, id)
      if (events.length === 0) throw badLog(file, 1, 'no line of a session log')
      return { events, log: this.open(openAt(file, size), lock) }
    } catch (refused) {
      lock.release()
      throw refused
    }
  }

  /** @throws HarnessError `SESSION_NOT_FOUND`, `BAD_LOG`, `SESSION_READ_FAILED`. */
  async read(id: SessionId): Promise<SessionEvent[]> {
    const file = this.fileOf(id)
    const { events } = isBorn(file) ? await readLog(file, id) : { events: [] }
    if (events.length === 0) throw sessionNotFound(id, `in ${this.path}`)
    return events
  }

  stored(): Promise<readonly StoredSession[]> {
    return storedIn(this.path)
  }

  private open(file: OpenFile, lock: Lock): LogFile {
    if (this.syncs === undefined) return new LogFile(file, lock)
    return new DurableLogFile(file, lock, this.syncs, file.size === 0 ? () => syncFolder(this.path) : undefined)
  }

  private fileOf(id: SessionId): string {
    return join(this.path, `${id}${LOG_ENDING}`)
  }

  private lockOf(id: SessionId): string {
    return join(this.path, `${id}.lock`)
  }

  private lock(id: SessionId): Lock {
    const path = this.lockOf(id)
    const outcome = takeLock(path)
    if (isLock(outcome)) return outcome
    throw sessionOpen(id, `${outcome.shown} (${path})`)
  }
}

/** Makes the names in a folder durable. Windows cannot open a folder, and needs no such thing. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Opens a log at its committed size; what stands after that was torn off a line, and goes. */
function openAt(file: string, size: number): OpenFile {
  let fd: number | undefined
  try {
    fd = openSync(file, size === 0 ? 'a' : constants.O_WRONLY | constants.O_APPEND)
    // By its path: a descriptor for appending cannot do it on every system.
    truncateSync(file, size)
    return { path: file, fd, size }
  } catch (cause) {
    if (fd !== undefined) closeUnused(fd)
    throw writeFailed(file, cause)
  }
}

/** Nothing was written by it: there is nothing that its closing could lose. */
function closeUnused(fd: number): void {
  try {
    closeSync(fd)
  } catch {}
}

/** How the first line of every log begins. */
const FIRST_BYTES = Buffer.from('{"seq":0,"time":')
const MAX_FIRST_LINE = 4096
const LINE_BREAK = 0x0a

/**
 * Whether a session was ever committed to this file. One that was killed before its first line was whole leaves nothing, or the
 * beginning of that line; anything else is not ours to write over.
 */
function isBorn(file: string): boolean {
  try {
    const stat = lstatSync(file)
    if (!stat.isFile() || stat.size > MAX_FIRST_LINE) return true
    const bytes = readFileSync(file)
    const shared = Math.min(bytes.length, FIRST_BYTES.length)
    return bytes.includes(LINE_BREAK) || !bytes.subarray(0, shared).equals(FIRST_BYTES.subarray(0, shared))
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return false
    throw readFailed(file, cause)
  }
}
