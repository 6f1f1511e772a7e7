import { codeOf, HarnessError, messageOf } from '@loopguard/kit'

/** What could not be written: full disk, read-only directory, a device that fails. */
export function writeFailed(what: string, cause: unknown): HarnessError {
  return new HarnessError(`${what} could not be written: ${messageOf(cause)}`, 'SESSION_WRITE_FAILED', { cause })
}

/** What could not be read, for a reason of the system's. */
export function readFailed(what: string, cause: unknown): HarnessError {
  return new HarnessError(`${what} could not be read: ${messageOf(cause)}`, 'SESSION_READ_FAILED', { cause })
}

/** A file that is no log of this session; `line` counts from 1. */
export function badLog(file: string, line: number, why: string, cause?: unknown): HarnessError {
  return new HarnessError(`${file}:${line}: ${why}`, 'BAD_LOG', { cause })
}

export function sessionOpen(id: string, where: string): HarnessError {
  return new HarnessError(`session "${id}" is open ${where}`, 'SESSION_OPEN')
}

export function sessionExists(id: string): HarnessError {
  return new HarnessError(`session "${id}" exists already`, 'SESSION_EXISTS')
}

export function sessionNotFound(id: string, where: string): HarnessError {
  return new HarnessError(`there is no session "${id}" ${where}`, 'SESSION_NOT_FOUND')
}

/** For stores whose logs can be taken over: another process has done so, and nothing more of this one gets into the log. */
export function sessionLost(id: string): HarnessError {
  return new HarnessError(`session "${id}" was taken over by another process`, 'SESSION_LOST')
}

/** Whether the system refused with this errno. */
export function isErrno(thrown: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(thrown) ?? '')
}
