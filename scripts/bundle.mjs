// Writes the JavaScript of each package's lib/, beside the declarations of `tsc`: one file for each of its entries, and one for what several
// of them share. A file for each source would take half a millisecond to find and to load, and a reminder has forty of them.
// What a package takes from another one stays an import. Only the guards, which are loaded into other people's hosts, hold what they use of
// ours: each of their entries is one file.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
/** What is started by its file: a command, a thread. */
const STARTED = ['src/bin.ts', 'src/http/worker.ts']

// The packages that are built, as `tsc` has them.
const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'))
await Promise.all(references.map(({ path }) => bundle(path)))

async function bundle(path) {
  const folder = join(root, path)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const lib = join(folder, 'lib')
  removeEarlier(lib)
  const entries = entriesOf(folder, manifest)
  if (!path.startsWith('./packages/guard/')) return write(lib, { cwd: folder, input: Object.fromEntries(entries), external: isPackage })
  for (const entry of entries) await write(lib, { cwd: folder, input: Object.fromEntries([entry]), external: outsideOfGuard(manifest) })
}

async function write(lib, options) {
  const build = await rolldown({
    ...options,
    resolve: { conditionNames: ['@loopguard/source'] },
    platform: 'node',
    transform: { target: 'node22.12' },
    tsconfig: false,
    onLog: (_, { message }) => {
      throw new Error(`${options.cwd}: ${message}`)
    },
  })
  await build.write({ dir: lib, entryFileNames: '[name].js', chunkFileNames: '[name].js', comments: false, sourcemap: true })
  await build.close()
}

/** What is shared may have had another name. */
function removeEarlier(lib) {
  const files = readdirSync(lib, { recursive: true }).filter((file) => /\.js(?:\.map)?$/.test(file))
  for (const file of files) rmSync(join(lib, file))
}

/** The sources that something outside of a package begins with, by the names that they get in its lib/. */
function entriesOf(folder, { exports }) {
  const exported = Object.values(exports).flatMap((target) => target['@loopguard/source'] ?? [])
  const started = STARTED.filter((file) => existsSync(join(folder, file)))
  return [
    ...exported.map((file) => [/^\.\/src\/(.*)\.ts$/.exec(file)[1], file]),
    // By its name alone: it is looked for beside what starts it, and that is in the lib/ itself.
    ...started.map((file) => [basename(file, '.ts'), `./${file}`]),
  ]
}

function isPackage(specifier) {
  return !/^[./]/.test(specifier)
}

/** A peer is the host's, of which there is one; and host and guards share the one listener that deadlines put on a signal. */
function outsideOfGuard({ peerDependencies }) {
  const shared = [...Object.keys(peerDependencies), '@loopguard/timeout']
  return (specifier) => isPackage(specifier) && (!specifier.startsWith('@loopguard/') || shared.some((name) => specifier.startsWith(name)))
}
