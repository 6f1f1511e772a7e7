import { closeSync, linkSync, lstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { codeOf, messageOf } from '@loopguard/kit'
import { LogFault } from '../../logs/fault.ts'
import { MARK } from '../page/document.ts'

/** Where the mark of a page stands, at the latest. */
const HEAD_BYTES = 2048

/**
 * Writes a page, whole or not at all. One that is there already is replaced; any other file is left as it is.
 * @throws LogFault when the file is no report, or cannot be written.
 */
export function writePage(file: string, page: string): void {
  const fresh = join(dirname(file), `.${basename(file).slice(0, 100)}-${process.pid}.tmp`)
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(fresh, page, { flag: 'wx' })
  } catch (fault) {
    if (codeOf(fault) !== 'EEXIST') rmSync(fresh, { force: true })
    throw new LogFault(`${file} cannot be written: ${messageOf(fault)}`)
  }
  try {
    if (!put(fresh, file)) {
      refuse(file)
      renameSync(fresh, file)
    }
  } catch (fault) {
    if (fault instanceof LogFault) throw fault
    throw new LogFault(`${file} cannot be written: ${messageOf(fault)}`)
  } finally {
    rmSync(fresh, { force: true })
  }
}

/** Gives a file its name unless that is taken, also by one that another process has made this moment. */
function put(fresh: string, file: string): boolean {
  try {
    linkSync(fresh, file)
    return true
  } catch (fault) {
    // Some file systems have no links.
    if (codeOf(fault) === 'EEXIST' || isThere(file)) return false
    renameSync(fresh, file)
    return true
  }
}

/** @throws LogFault for what is no report of ours. */
function refuse(file: string): void {
  const stat = lstatSync(file)
  if (stat.isDirectory()) throw new LogFault(`${file} is a folder; name a file with -o`)
  if (!stat.isFile() || !headOf(file).includes(MARK))
    throw new LogFault(`${file} is there already and is no report; it is left as it is. Choose another name with -o`)
}

function headOf(file: string): string {
  const head = Buffer.alloc(HEAD_BYTES)
  const fd = openSync(file, 'r')
  try {
    return head.subarray(0, readSync(fd, head, 0, HEAD_BYTES, 0)).toString('latin1')
  } finally {
    closeSync(fd)
  }
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined
}
