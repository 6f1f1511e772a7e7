import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Limits {
  /** The largest file that the program may write, in blocks of the shell's `ulimit -f` (512 bytes in POSIX, 1024 in bash). */
  readonly fileBlocks?: number
}

/** Starts a program of this folder in a process of its own. Its standard output is a pipe. */
export function startProgram(file: string, args: readonly string[], { fileBlocks }: Limits = {}): ChildProcess {
  const script = fileURLToPath(new URL(file, import.meta.url))
  const source = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
  const command = [process.execPath, ...source, '--import', 'tsx', script, ...args]
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const [head = '', ...rest] =
    fileBlocks === undefined ? command : ['/bin/sh', '-c', `ulimit -f ${fileBlocks} && exec "$@"`, 'sh', ...command]
  return spawn(head, rest, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
}

/** Runs a program to its end, and returns what it wrote to standard output. */
export async function runProgram(file: string, args: readonly string[], limits?: Limits): Promise<string> {
  const child = startProgram(file, args, limits)
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => (output += piece))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output)
      else reject(new Error(`${file} ended with ${code ?? signal}: ${output}`))
    })
  })
}
