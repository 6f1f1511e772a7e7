import { codeOf, HarnessError, messageOf } from '@loopguard/kit'

/** SQLSTATEs of a server that is going, coming, or full of connections. */
const OUTAGES = new Set(['57P01', '57P02', '57P03', '53300'])
/** What the driver says without a code. */
const DRIVER_OUTAGES = /connection terminated|not queryable|timeout exceeded when trying to connect|query read timeout|connection ended/i
/** What became of a statement is known: nothing. The next attempt may succeed. */
const CONFLICTS = new Set(['40001', '40P01'])
const REFUSALS = new Set(['28000', '28P01', '3D000', '42501'])
const DISK_FULL = '53100'

/** What a query or a connection failed with, as an error of ours where the operator can mend it. */
export function databaseFault(error: unknown, shown: string): unknown {
  const code = codeOf(error) ?? ''
  const why = messageOf(error)
  if (REFUSALS.has(code)) return new HarnessError(`session-postgres: ${shown} refuses: ${why}`, 'DATABASE_REFUSED', { cause: error })
  if (/client password must be a string|no password supplied/i.test(why)) {
    return new HarnessError(`session-postgres: ${shown} wants a password: put the URL into a variable for \`urlEnv\``, 'DATABASE_REFUSED')
  }
  if (!isConnectionFault(code, why)) return error
  return new HarnessError(`session-postgres: ${shown} cannot be reached: ${why || code}`, 'DATABASE_UNREACHABLE', { cause: error })
}

function isConnectionFault(code: string, why: string): boolean {
  return /^E[A-Z]{3,}|^08/.test(code) || OUTAGES.has(code) || (code === '' && DRIVER_OUTAGES.test(why))
}

/** Whether waiting may mend it. What a statement did that was under way is not known. */
export function isOutage(error: unknown): boolean {
  return codeOf(error) === 'DATABASE_UNREACHABLE'
}

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error) ?? '')
}

export function writeFailed(id: string, shown: string, cause: unknown): HarnessError {
  const why = codeOf(cause) === DISK_FULL ? `the disk of ${shown} is full: ${messageOf(cause)}` : messageOf(cause)
  return new HarnessError(`session "${id}" could not be written: ${why}`, 'SESSION_WRITE_FAILED', { cause })
}

export function readFailed(what: string, cause: unknown): HarnessError {
  return new HarnessError(`${what} could not be read: ${messageOf(cause)}`, 'SESSION_READ_FAILED', { cause })
}

export function badLog(id: string, seq: number, why: string, cause?: unknown): HarnessError {
  return new HarnessError(`session "${id}", event ${seq}: ${why}`, 'BAD_LOG', { cause })
}

export function sessionOpen(id: string, where: string): HarnessError {
  return new HarnessError(`session "${id}" is open ${where}`, 'SESSION_OPEN')
}

export function sessionExists(id: string): HarnessError {
  return new HarnessError(`session "${id}" exists already`, 'SESSION_EXISTS')
}

export function sessionNotFound(id: string, shown: string): HarnessError {
  return new HarnessError(`there is no session "${id}" in ${shown}`, 'SESSION_NOT_FOUND')
}
