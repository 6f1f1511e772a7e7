// The bootstrap of a copy of the repository, with an npm and an npx that answer at once: no network. It thinks itself too old, and
// its pin is a script that says the version of a Node.
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { filesBelow, read, root } from './support/docs.ts'

const PIN = '99.1.0'
const OLDER_PIN = '99.0.0'
const platform = `${process.platform}-${process.arch}`

/** A tar archive with one file, as npm packs them. */
function tarballOf(path: string, content: string): Buffer {
  const header = Buffer.alloc(512)
  header.write(path)
  header.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')} `, 124)
  return gzipSync(Buffer.concat([header, Buffer.from(content.padEnd(Math.ceil(content.length / 512) * 512, '\0')), Buffer.alloc(1024)]))
}

const nodeThatSays = (version: string): string => `#!/bin/sh\necho v${version}\n`

interface Copy {
  readonly root: string
  /** Runs the bootstrap to its end. */
  run(): Promise<{ code: number; err: string }>
  /** What was asked of npm and npx, one word each: the script's own name and its first argument. */
  asked(): string[]
  /** Replaces what npm does. */
  npm(script: string): void
  npx(script: string): void
  pin(version: string): void
}

interface Options {
  readonly floor?: string
  readonly packages?: string
  readonly tarball?: Buffer
  readonly integrity?: string
}

/** A copy of the repository in which nothing is installed. */
function copy(options: Options = {}): Copy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'loopguard-bootstrap-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const at = (path: string): string => join(folder, path)
  for (const name of ['scripts', 'bin']) mkdirSync(at(name))
  copyFileSync(fileURLToPath(new URL('scripts/bootstrap.mjs', root)), at('scripts/bootstrap.mjs'))
  writeFileSync(at('package.json'), JSON.stringify({ type: 'module', packageManager: 'pnpm@1.2.3+sha512.00' }))
  writeFileSync(at('pnpm-lock.yaml'), 'lockfileVersion: 1\n')

  const source = readFileSync(fileURLToPath(new URL('scripts/pinned-node.mjs', root)), 'utf8')
  const pin = (version: string): void => {
    const tarball = options.tarball ?? tarballOf('package/bin/node', nodeThatSays(version))
    writeFileSync(at('node.tgz'), tarball)
    const integrity = options.integrity ?? `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const packages = options.packages ?? `{ '${platform}': ['node-of-tests', '${integrity}'] }`
    const changed = source
      .replace(/FLOOR = '.*'/, `FLOOR = '${options.floor ?? '99.0.0'}'`)
      .replace(/PINNED = '.*'/, `PINNED = '${version}'`)
      .replace(/PACKAGES = \{.*?^\}/ms, `PACKAGES = ${packages}`)
    writeFileSync(at('scripts/pinned-node.mjs'), changed)
  }
  const command = (name: string) => (script: string) => {
    writeFileSync(at(`bin/${name}`), `#!/bin/sh\necho "${name} $1" >> "${at('asked')}"\n${script}\n`)
    chmodSync(at(`bin/${name}`), 0o755)
  }
  const npm = command('npm')
  const npx = command('npx')
  pin(PIN)
  // `npm pack <spec> --pack-destination <folder>`
  npm(`cp "${at('node.tgz')}" "$4/node-of-tests.tgz"`)
  npx(`echo "pnpm runs on $(node --version)" >&2; mkdir -p node_modules/.pnpm && cp pnpm-lock.yaml node_modules/.pnpm/lock.yaml`)
  const env = { ...process.env, PATH: [at('bin'), dirname(process.execPath), process.env['PATH']].join(delimiter) }
  return {
    root: folder,
    run: () =>
      new Promise((resolve) => {
        execFile(process.execPath, [at('scripts/bootstrap.mjs')], { env, cwd: folder }, (error, _out, err) =>
          resolve({ code: error === null ? 0 : Number(error.code), err }),
        )
      }),
    asked: () => (existsSync(at('asked')) ? readFileSync(at('asked'), 'utf8').trim().split('\n') : []),
    npm,
    npx,
    pin,
  }
}

const inFront = ({ root: folder }: Copy): string | undefined => {
  const link = join(folder, 'node_modules/.bin/node')
  return existsSync(link) ? readFileSync(link, 'utf8') : undefined
}
const left = ({ root: folder }: Copy): string[] => {
  const modules = join(folder, 'node_modules')
  return existsSync(modules) ? readdirSync(modules, { recursive: true, encoding: 'utf8' }).toSorted() : []
}

it('an own Node that is too old gets the pinned one in front, says so in one line, and pnpm runs on it', async () => {
  const fresh = copy()
  const { code, err } = await fresh.run()
  expect(err.trim().split('\n')).toEqual([
    `Node 99.0.0 or newer is needed, and this is ${process.version}: bringing Node ${PIN} into node_modules (node-of-tests, once) ...`,
    'Installing the workspace with pnpm@1.2.3 (frozen lockfile) ...',
    `pnpm runs on v${PIN}`,
  ])
  expect(code).toBe(0)
  expect(inFront(fresh)).toBe(nodeThatSays(PIN))
})

it('a second run asks for nothing and says nothing', async () => {
  const fresh = copy()
  await fresh.run()
  expect(await fresh.run()).toEqual({ code: 0, err: '' })
  expect(fresh.asked()).toEqual(['npm pack', 'npx -y'])
})

it.each([process.versions.node, '1.999.999'])(
  'an own Node that is no older than %s is left in front: nothing is brought',
  async (floor) => {
    const fresh = copy({ floor })
    const { code, err } = await fresh.run()
    expect([code, err]).toEqual([0, `Installing the workspace with pnpm@1.2.3 (frozen lockfile) ...\npnpm runs on ${process.version}\n`])
    expect(fresh.asked()).toEqual(['npx -y'])
  },
)

it('what is not pinned is refused by both hashes, and leaves nothing behind', async () => {
  const fresh = copy({ integrity: 'sha512-pinned' })
  const { code, err } = await fresh.run()
  expect(code).toBe(1)
  expect(err).toMatch(
    /^node-of-tests@99\.1\.0 is not what this repository pins: expected sha512-pinned, got sha512-\S+\. Install Node 99\.0\.0 or newer/m,
  )
  expect([fresh.asked(), left(fresh)]).toEqual([['npm pack'], []])
})

it('a download that is killed half-way leaves nothing in front, and the next run brings it', async () => {
  const fresh = copy()
  const whole = readFileSync(join(fresh.root, 'bin/npm'), 'utf8')
  fresh.npm('head -c 100 "$(dirname "$0")/../node.tgz" > "$4/node-of-tests.tgz"; echo here; exec sleep 60')
  // The pipe is npm's, too: it says when the download has begun.
  writeFileSync(
    join(fresh.root, 'scripts/pinned-node.mjs'),
    readFileSync(join(fresh.root, 'scripts/pinned-node.mjs'), 'utf8').replace(
      "['ignore', 'ignore', 'inherit']",
      "['ignore', 'inherit', 'inherit']",
    ),
  )
  const env = { ...process.env, PATH: [join(fresh.root, 'bin'), process.env['PATH']].join(delimiter) }
  const child = spawn(process.execPath, [join(fresh.root, 'scripts/bootstrap.mjs')], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  process.kill(-(child.pid as number), 'SIGKILL')
  await once(child, 'exit')
  expect(inFront(fresh)).toBeUndefined()

  writeFileSync(join(fresh.root, 'bin/npm'), whole)
  expect((await fresh.run()).code).toBe(0)
  expect(inFront(fresh)).toBe(nodeThatSays(PIN))
})

it('npm that fails is said, and the next run tries again', async () => {
  const fresh = copy()
  const whole = readFileSync(join(fresh.root, 'bin/npm'), 'utf8')
  fresh.npm('echo "npm error network" >&2; exit 7')
  const { code, err } = await fresh.run()
  expect(code).toBe(1)
  expect(err).toContain('npm error network\nnpm could not fetch node-of-tests@99.1.0 (exit 7). Run this again, or: Install Node 99.0.0')
  expect(left(fresh)).toEqual([])
  writeFileSync(join(fresh.root, 'bin/npm'), whole)
  expect((await fresh.run()).code).toBe(0)
})

it('a platform without a package is told so', async () => {
  const fresh = copy({ packages: '{}' })
  expect(await fresh.run()).toEqual({
    code: 1,
    err: `npm has no package of Node ${PIN} for ${process.platform} on ${process.arch}. Install Node 99.0.0 or newer, and run this again.\n`,
  })
  expect(fresh.asked()).toEqual([])
})

it.each([
  ['fails', '#!/bin/sh\necho "no such libc" >&2; exit 1\n', 'no such libc'],
  ['is of another version', nodeThatSays('98.0.0'), ''],
  ['cannot be started', 'ELF of somewhere else', ''],
])('a Node that %s is not put in front', async (_, content, why) => {
  const fresh = copy({ tarball: tarballOf('package/bin/node', content) })
  const { code, err } = await fresh.run()
  expect(code).toBe(1)
  expect(err).toContain(`node-of-tests@${PIN} does not run here: ${why}`)
  expect(left(fresh)).toEqual([])
})

it('a package without a Node in it is refused', async () => {
  const fresh = copy({ tarball: tarballOf('package/README.md', 'nothing here') })
  expect(await fresh.run()).toMatchObject({
    code: 1,
    err: expect.stringContaining(`node-of-tests@${PIN} holds no package/bin/node\n`) as string,
  })
})

it.each([
  ['the link', 'rm -rf node_modules/.bin', 1],
  ['all of it', 'rm -rf node_modules', 2],
])('when pnpm cleared %s, it is back in front', async (_, clear, packs) => {
  const fresh = copy()
  fresh.npx(`${clear}; mkdir -p node_modules/.pnpm && cp pnpm-lock.yaml node_modules/.pnpm/lock.yaml`)
  await fresh.run()
  expect(inFront(fresh)).toBe(nodeThatSays(PIN))
  expect(fresh.asked().filter((asked) => asked === 'npm pack')).toHaveLength(packs)
})

it('one that an earlier pin brought makes way, also when it is recent enough itself', async () => {
  const fresh = copy({ floor: process.versions.node })
  mkdirSync(join(fresh.root, 'node_modules/.bin'), { recursive: true })
  writeFileSync(join(fresh.root, 'node_modules/.bin/node'), nodeThatSays(OLDER_PIN))
  await fresh.run()
  expect(inFront(fresh)).toBe(nodeThatSays(PIN))
})

it('a failing install fails the bootstrap', async () => {
  const fresh = copy()
  fresh.npx('exit 3')
  expect((await fresh.run()).code).toBe(3)
})

it('every script of the root runs the bootstrap first', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
  const names = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
  expect(Object.fromEntries(Object.entries(scripts).filter(([name]) => name.startsWith('pre')))).toEqual(
    Object.fromEntries(names.map((name) => [`pre${name}`, 'node scripts/bootstrap.mjs'])),
  )
})

it('every manifest says the same floor as the bootstrap', async () => {
  const [, floor] = /FLOOR = '(.*)'/.exec(await read('scripts/pinned-node.mjs')) ?? []
  const manifests = await Promise.all(
    (await filesBelow('', 'package.json')).map(async (path) => ({
      path,
      ...(JSON.parse(await read(path)) as { engines?: { node?: string } }),
    })),
  )
  const said = manifests.filter(({ engines }) => engines !== undefined)
  expect(said.length).toBeGreaterThan(10)
  expect(said.filter(({ engines }) => engines?.node !== `>=${floor}`).map(({ path }) => path)).toEqual([])
})
