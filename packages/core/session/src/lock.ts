import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isErrno, writeFailed } from './failures.ts'
import { describeSelf, type Holder, isRunning, readHolder } from './holder.ts'
import { removeLitter } from './litter.ts'

export interface Lock {
  /** Gives it back. Never throws. */
  release(): void
}

/** How often a lock may slip away between two looks at it before it counts as held. */
const ATTEMPTS = 20

/**
 * Takes the lock file at `path`, or says who holds it. It goes with the process: what a dead one left is taken over, and of any
 * number of takers one gets it.
 * @throws HarnessError `SESSION_WRITE_FAILED` when no lock can be made there.
 */
export function takeLock(path: string): Lock | Holder {
  const token = randomBytes(4).toString('hex')
  let holder: Holder | undefined
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (place(path, token)) return { release: () => remove(path, token) }
    holder = readHolder(path)
    if (holder === undefined) continue
    if (holder.isAlive || !evict(path, holder)) return holder
  }
  return holder ?? { token: '', isAlive: true, shown: 'in some process' }
}

const BESIDE = /\.(\d+)\.[0-9a-f]{8}\.tmp$/

/** Removes what processes left beside the lock at `path` that were killed while they made theirs. Never throws. */
export function sweepBeside(path: string): void {
  try {
    for (const name of readdirSync(dirname(path))) {
      const [, pid] = name.startsWith(`${basename(path)}.`) ? (BESIDE.exec(name) ?? []) : []
      if (pid !== undefined && !isRunning(Number(pid))) removeLitter(join(dirname(path), name))
    }
  } catch {
    // Litter is no reason to refuse a session.
  }
}

export function isLock(outcome: Lock | Holder): outcome is Lock {
  return 'release' in outcome
}

/** A file that appears whole or not at all: written beside, then linked, which fails when the name is taken. */
function place(path: string, token: string): boolean {
  const beside = `${path}.${process.pid}.${token}.tmp`
  try {
    writeFileSync(beside, describeSelf(token), { flag: 'wx' })
    return link(beside, path)
  } catch (cause) {
    throw writeFailed(`the lock ${path}`, cause)
  } finally {
    // Once the lock is there, nothing may keep its taker from holding it.
    removeLitter(beside)
  }
}

function link(beside: string, path: string): boolean {
  try {
    linkSync(beside, path)
    return true
  } catch (cause) {
    if (isErrno(cause, 'EEXIST')) return false
  }
  return writeNew(path, readFileSync(beside))
}

/** Where there are no hard links: a file that is empty for a moment. */
function writeNew(path: string, content: Uint8Array): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' })
    return true
  } catch (cause) {
    if (isErrno(cause, 'EEXIST')) return false
    throw cause
  }
}

/**
 * Removes a dead process' lock. Between a look at it and its removal it could be another's, so the removal is itself under a lock
 * that is named after this very one: only its holder may remove it, and looks again first.
 *
 * @returns false when a live process is at it already.
 */
function evict(path: string, { token }: Holder): boolean {
  const claim = takeLock(`${path}.${token}`)
  if (!isLock(claim)) return false
  remove(path, token)
  claim.release()
  return true
}

function remove(path: string, token: string): void {
  try {
    if (readHolder(path)?.token === token) unlinkSync(path)
  } catch {
    // Gone already, or it cannot be: then it counts as stale when this process has ended.
  }
}
