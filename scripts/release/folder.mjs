// An empty folder that becomes a project: installed, run, compiled.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bin } from './tarballs.mjs'

export const RESOLUTIONS = [
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
]

/** Tarballs name each other by version, which no registry knows yet. npm finds them beside each other; pnpm has to be told. */
export function overrides(manager, local) {
  return manager === 'pnpm' ? { pnpm: { overrides: local } } : {}
}

export function install(manager, step) {
  if (manager === 'npm') step('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'])
  else step(bin('pnpm'), ['install', '--reporter=append-only'])
}

export function typeCheck(module, moduleResolution, added = {}) {
  const options = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    lib: 'es2023',
    types: 'node',
    skipLibCheck: false,
    module,
    moduleResolution,
    ...added,
  }
  return [...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]), 'types.ts']
}

export function inEmptyFolder(what, body) {
  const folder = mkdtempSync(join(tmpdir(), 'loopguard-consumer-'))
  const step = (command, args) => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', timeout: 300_000 })
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}\n${error?.message ?? ''}${stdout}${stderr}`)
    return stdout
  }
  try {
    body(folder, step)
    console.log(`ok   ${what}`)
    return []
  } catch (error) {
    console.log(`BAD  ${what}`)
    return [`${what}: ${error.message}`]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function writeJson(folder, fields) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module', ...fields }, undefined, 2))
}

export function expectIn(output, text) {
  if (!output.includes(text)) throw new Error(`the output lacks ${JSON.stringify(text)}:\n${output}`)
}
