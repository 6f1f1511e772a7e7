/**
 * What tools print must not reach the client, and what a client sends must not be read by a tool's child, which inherits the streams of
 * its parent. So the composition runs in a process of its own, whose standard input is empty, whose standard output is standard error,
 * and that speaks to the client through descriptors which no child of it inherits.
 */

import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { LogFault } from '../logs/fault.ts'

const [INPUT, OUTPUT, LEASH] = [3, 4, 5]
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** Runs the command again in the inner process, hands signals on, and waits for it. Returns its exit code. */
export async function runInner(args: readonly string[]): Promise<number> {
  const [, program = ''] = process.argv
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
    stdio: ['ignore', 2, 2, 0, 1, 'pipe'],
    // A terminal would send it the signals that this process hands on, too.
    detached: true,
  })
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, forward)
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]))
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, forward)
  }
}

/**
 * In the inner process: what the client is spoken to through. It ends, too, when the outer process is gone.
 *
 * @param outer - the id of the outer process, as it was passed on.
 * @throws LogFault when that is not the parent of this process: the descriptors would be something else.
 */
export function innerWire(outer: string): { readonly input: Readable; readonly output: Writable } {
  if (Number(outer) !== process.ppid) throw new LogFault('--inner is for the command itself')
  const input = readerOf(INPUT)
  const leash = new Socket({ fd: LEASH, readable: true, writable: false })
  leash.on('error', () => {})
  leash.on('close', () => input.destroy())
  leash.resume().unref()
  return { input, output: writerOf(OUTPUT) }
}

function readerOf(fd: number): Readable {
  return isPipe(fd) ? new Socket({ fd, readable: true, writable: false }) : createReadStream('', { fd })
}

function writerOf(fd: number): Writable {
  return isPipe(fd) ? new Socket({ fd, readable: false, writable: true }) : createWriteStream('', { fd })
}

function isPipe(fd: number): boolean {
  const stats = fstatSync(fd)
  return stats.isFIFO() || stats.isSocket()
}
