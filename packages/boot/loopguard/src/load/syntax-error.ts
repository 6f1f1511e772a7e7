import { spawnSync } from 'node:child_process'
import { dirname, resolve } from 'node:path'

/**
 * Node does not tell an importer where a syntax error stands, but its own checker does.
 * @returns the error with its place and the line; `undefined` when `specifier` is no file, or the fault is further down.
 */
export function findSyntaxError(importer: string, specifier: string): Error | undefined {
  if (!/^\.{0,2}\//.test(specifier)) return undefined
  const { stderr } = spawnSync(process.execPath, ['--check', resolve(dirname(importer), specifier)], { encoding: 'utf8' })
  const [report] = stderr.split(/\n\s+at /)
  if (report === undefined || !report.includes('SyntaxError')) return undefined
  return Object.assign(new SyntaxError(report.trim().replaceAll(/\n\s*\n/g, '\n')), { code: 'SYNTAX_ERROR' })
}
