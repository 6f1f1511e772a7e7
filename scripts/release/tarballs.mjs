// Packing with pnpm: it alone replaces `workspace:` ranges and applies `publishConfig`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A binary of the workspace, so that the pinned version runs whatever is on PATH. */
export function bin(name) {
  return join(root, 'node_modules', '.bin', name)
}

export function text(command, args, options = {}) {
  return execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, ...options })
}

/** Packs all public packages into an empty folder. Returns them with what is inside. */
export function pack() {
  const folder = join(root, '.tmp', 'pack')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packages = JSON.parse(text(bin('pnpm'), ['-r', 'ls', '--json', '--depth', '-1'])).filter((one) => !one.private)
  for (const { path } of packages) text(bin('pnpm'), ['pack', '--pack-destination', folder], { cwd: path })
  return readdirSync(folder)
    .map((file) => join(folder, file))
    .map((file) => ({
      file,
      bytes: statSync(file).size,
      files: text('tar', ['-tzf', file])
        .trim()
        .split('\n')
        .map((entry) => entry.replace(/^package\//, '')),
      read: (entry) => text('tar', ['-xzOf', file, `package/${entry}`]),
      manifest: JSON.parse(text('tar', ['-xzOf', file, 'package/package.json'])),
    }))
}
