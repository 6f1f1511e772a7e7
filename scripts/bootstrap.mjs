// Installs the workspace with the pinned pnpm when node_modules is missing or differs from the lockfile.
// Plain Node, no dependencies: it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file) => {
  try {
    return readFileSync(root + file, 'utf8')
  } catch {
    return undefined
  }
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`This repository needs Node 20.19 or newer; this is ${process.version}.`)
  process.exit(1)
}
// pnpm leaves a copy of the lockfile that it installed from.
if (read('node_modules/.pnpm/lock.yaml') === read('pnpm-lock.yaml')) process.exit(0)

const pnpm = JSON.parse(read('package.json')).packageManager.split('+')[0]
console.error(`Installing the workspace with ${pnpm} (frozen lockfile) ...`)
const { status, error } = spawnSync('npx', ['-y', pnpm, 'install', '--frozen-lockfile'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  shell: process.platform === 'win32',
})
if (error) console.error(error.message)
process.exit(status ?? 1)
