// Packing with pnpm: it alone replaces `workspace:` ranges and applies `publishConfig`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A binary of the workspace, so that the pinned version runs, not the one on PATH. */
export function bin(name) {
  return join(root, 'node_modules', '.bin', name)
}

function text(command, args, options = {}) {
  return execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, ...options })
}

/** Packs all public packages into an empty folder. Returns them with what is inside. */
export function pack() {
  const folder = join(root, '.tmp', 'pack')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packages = JSON.parse(text(bin('pnpm'), ['-r', 'ls', '--json', '--depth', '-1'])).filter((one) => !one.private)
  text(bin('pnpm'), ['-r', ...packages.map(({ name }) => `--filter=${name}`), 'pack', '--pack-destination', folder])
  return readdirSync(folder).map((name) => open(join(folder, name)))
}

function open(file) {
  const contents = file.replace(/\.tgz$/, '')
  mkdirSync(contents)
  text('tar', ['-xzf', file, '-C', contents])
  const read = (entry) => readFileSync(join(contents, 'package', entry), 'utf8')
  const files = readdirSync(join(contents, 'package'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(contents, 'package'), join(entry.parentPath, entry.name)))
  return { file, bytes: statSync(file).size, files, read, manifest: JSON.parse(read('package.json')) }
}
