import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { codeOf, HarnessError, messageOf } from '@loopguard/kit'
import { clampTimeout } from '@loopguard/timeout'
import type { Config } from './config.ts'
import type { ShellRequest, ShellSpec } from './types.ts'

/**
 * Fills in defaults, clamps, checks.
 * @throws HarnessError `BAD_COMMAND`, `BAD_WORKDIR`; RangeError `TIMEOUT_OUT_OF_RANGE`. Each names the value and what is wanted.
 */
export function resolveRequest(request: ShellRequest, config: Config): ShellSpec {
  const { command, cwd, timeoutMs, signal, owner } = request
  checkCommand(command)
  return Object.freeze({
    command,
    workdir: workdirOf(request.workdir, cwd ?? config.cwd),
    timeoutMs: clampTimeout(timeoutMs, config.timeoutMs, config.maxTimeoutMs),
    signal,
    owner,
  })
}

/** @throws HarnessError `BAD_COMMAND` */
export function checkCommand(command: unknown): asserts command is string {
  if (typeof command !== 'string') throw badCommand(`must be text, got ${typeof command}`)
  if (command.trim() === '') throw badCommand('is empty: give a script for bash')
  const at = command.indexOf('\0')
  if (at >= 0) throw badCommand(`holds a NUL at index ${at}, which no argument of a process can: write it as \\0 or $'\\x00'`)
}

/** @throws HarnessError `BAD_WORKDIR` */
export function workdirOf(workdir: unknown, cwd = '.'): string {
  if (workdir !== undefined && typeof workdir !== 'string') throw badWorkdir(`must be text, got ${typeof workdir}`)
  const path = resolve(cwd, workdir ?? '')
  try {
    if (!statSync(path).isDirectory()) throw badWorkdir(`must be a folder, ${JSON.stringify(path)} is a file`)
  } catch (error) {
    if (codeOf(error) === 'BAD_WORKDIR') throw error
    const why = codeOf(error) === 'ENOENT' ? 'does not exist' : messageOf(error)
    throw badWorkdir(`must be a folder, ${JSON.stringify(path)} ${why}`, error)
  }
  return path
}

const badCommand = (why: string): HarnessError => new HarnessError(`shell: \`command\` ${why}`, 'BAD_COMMAND')

const badWorkdir = (why: string, cause?: unknown): HarnessError =>
  new HarnessError(`shell: \`workdir\` ${why}`, 'BAD_WORKDIR', cause === undefined ? undefined : { cause })
