import { HarnessError } from '@loopguard/kit'
import { SessionId } from '@loopguard/llm'

/** Leaves room for the endings of the log and of its lock in the 255 bytes that file systems allow. */
const MAX_ID_BYTES = 200

const SEPARATORS = /[/\\]/
const CONTROL = /\p{Cc}/u
const WINDOWS_CHARACTERS = /[<>:"|?*]/
const LONE_SURROGATE = /\p{Surrogate}/u
/** Names of devices on Windows, with any ending. */
const WINDOWS_DEVICES = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i

/**
 * An id names a file, so it must be a portable file name: it cannot leave the directory, and it means the same file everywhere.
 * The same rule holds without a directory.
 * @throws HarnessError `BAD_SESSION_ID`.
 */
export function checkSessionId(id: unknown): SessionId {
  const why = faultOf(id)
  if (why === undefined) return SessionId(id as string)
  const shown = typeof id === 'string' ? JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id) : `of type ${typeof id}`
  throw new HarnessError(`bad session id ${shown}: it ${why}`, 'BAD_SESSION_ID')
}

function faultOf(id: unknown): string | undefined {
  if (typeof id !== 'string') return 'must be text'
  if (id.trim() === '') return 'is blank'
  if (SEPARATORS.test(id)) return 'holds a path separator'
  if (CONTROL.test(id)) return 'holds a control character'
  if (id.startsWith('.')) return 'starts with a dot'
  if (id !== id.trim()) return 'has white space around it'
  if (id.endsWith('.')) return 'ends with a dot'
  if (LONE_SURROGATE.test(id)) return 'is not well-formed Unicode'
  if (WINDOWS_DEVICES.test(id)) return 'is the name of a device on Windows'
  if (process.platform === 'win32' && WINDOWS_CHARACTERS.test(id)) return 'holds a character that Windows forbids in file names'
  const bytes = Buffer.byteLength(id)
  if (bytes > MAX_ID_BYTES) return `is ${bytes} bytes long, more than ${MAX_ID_BYTES}`
  return undefined
}
