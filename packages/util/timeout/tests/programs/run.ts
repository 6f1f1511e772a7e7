import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Runs one of the programs in this folder in a Node of its own and returns the JSON that it prints. */
export async function runProgram(name: string): Promise<unknown> {
  const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
  const program = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...sources, '--import', 'tsx', program])
  return JSON.parse(stdout)
}
