// All the set-up there is, run before every script of the root: a Node that is recent enough, when the machine's own is not, and the
// workspace, installed with the pinned pnpm when node_modules is missing or differs from the lockfile.
// Plain Node, no dependencies: it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bringNode, isInFront, isTooOld, linkIn } from './pinned-node.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file) => {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    return undefined
  }
}

// One that was brought for an earlier pin makes way for the present one.
const isNeeded = isTooOld(process.versions.node) || existsSync(linkIn(root))
const ensureNode = () => {
  if (!isNeeded || isInFront(root)) return
  try {
    bringNode(root)
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
}

ensureNode()
// pnpm leaves a copy of the lockfile that it installed from.
if (read('node_modules/.pnpm/lock.yaml') === read('pnpm-lock.yaml')) process.exit(0)

const pnpm = JSON.parse(read('package.json')).packageManager.split('+')[0]
console.error(`Installing the workspace with ${pnpm} (frozen lockfile) ...`)
// pnpm runs on the Node that was brought: it refuses a workspace that its own is too old for.
process.env.PATH = [dirname(linkIn(root)), process.env.PATH].join(delimiter)
const { status, error } = spawnSync('npx', ['-y', pnpm, 'install', '--frozen-lockfile'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  shell: process.platform === 'win32',
})
if (error) console.error(error.message)
// It may have cleared node_modules first.
if (status === 0) ensureNode()
process.exit(status ?? 1)
