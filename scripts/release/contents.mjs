// What must be in a tarball, and what must not.
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import ts from 'typescript'

const REQUIRED = ['LICENSE', 'README.md', 'package.json']
const FIELDS = ['name', 'version', 'description', 'license', 'type', 'exports', 'engines', 'files', 'sideEffects', 'keywords']
/** What a guard's declarations may name: anything else would bring our event types into another harness' program. (Of invariants, a companion names the helper, which declares nothing.) */
const GUARD_TYPES = ['@deepseek-ai/cordis', '@deepseek-ai/schemastery', '@loopguard/invariants', '@loopguard/repeat', '@loopguard/timeout']
const GUARDS = ['@loopguard/timeout-policy', '@loopguard/repeat-tool-reminder', '@loopguard/repeated-failure-reminder']

export function checkTarball(tarball) {
  return [...checkFiles(tarball), ...checkManifest(tarball), ...checkImports(tarball)]
}

function* checkFiles({ files, manifest, read }) {
  const commands = Object.values(manifest.bin ?? {}).map((path) => path.replace(/^\.\//, ''))
  for (const file of REQUIRED) if (!files.includes(file)) yield `the tarball has no ${file}`
  for (const file of files) {
    const belongs = /^(?:lib|src)\/|^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json)$/.test(file) || commands.includes(file)
    if (!belongs) yield `the tarball holds ${file}`
    if (/\.tsbuildinfo$|\.spec\./.test(file)) yield `the tarball holds ${file}`
    // A debugger that follows a map must find the sources: in the tarball, or in the map, as of what a guard takes from another package.
    if (/^lib\/.*\.map$/.test(file))
      for (const source of missing(file, JSON.parse(read(file)), files)) yield `${file} maps to ${source}, which is not in the tarball`
  }
}

function missing(file, { sources, sourcesContent = [] }, files) {
  return sources
    .filter((_, index) => typeof sourcesContent[index] !== 'string')
    .map((source) => posix.join(posix.dirname(file), source))
    .filter((source) => !files.includes(source))
}

function* checkManifest({ manifest, files }) {
  for (const field of FIELDS) if (manifest[field] === undefined) yield `package.json has no ${field}`
  if (/workspace:|link:|file:|@loopguard\/source/.test(JSON.stringify(manifest))) yield 'package.json still holds workspace-only fields'
  if (manifest.private) yield 'package.json says private'
  if (manifest.scripts?.install ?? manifest.scripts?.postinstall) yield 'package.json has an install script'
  for (const target of targetsOf(manifest)) if (!files.includes(target)) yield `package.json names ${target}, which is not in the tarball`
  if ('./invariant' in (manifest.exports ?? {}) !== files.includes('lib/invariant.js')) yield 'lib/invariant.js and its export go together'
}

/** Every package that a file names is one that the manifest asks for. A guard loads none of ours but what it shares with the host. */
function* checkImports({ manifest, files, read }) {
  const peers = Object.keys(manifest.peerDependencies ?? {})
  const real = [...Object.keys(manifest.dependencies ?? {}), ...peers, manifest.name]
  const isGuard = GUARDS.includes(manifest.name)
  const shared = [...peers, '@loopguard/timeout']
  for (const file of reachable(manifest, files, read)) {
    const foreign = isGuard && file.endsWith('.d.ts') ? real.filter((name) => !GUARD_TYPES.includes(name)) : []
    for (const name of importsOf(read(file))
      .filter((specifier) => !specifier.startsWith('.'))
      .map(packageOf)) {
      if (!builtinModules.includes(name) && !real.includes(name)) yield `${file} imports ${name}, which is no dependency`
      if (isGuard && file.endsWith('.js') && name.startsWith('@loopguard/') && !shared.includes(name))
        yield `${file} loads ${name}: a guard holds what it uses of ours`
      if (foreign.includes(name)) yield `${file} names ${name}: a guard's declarations bring no host`
    }
  }
}

/** The files that a consumer comes to from what the package exports. */
function reachable({ exports, bin }, files, read) {
  const found = new Set()
  const visit = (file) => {
    if (found.has(file) || !files.includes(file) || !/\.(?:js|d\.ts)$/.test(file)) return
    found.add(file)
    for (const specifier of importsOf(read(file)).filter((one) => one.startsWith('.'))) {
      const target = posix.join(posix.dirname(file), specifier)
      visit(file.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target)
    }
  }
  for (const target of targetsOf({ exports, bin })) visit(target)
  return found
}

function importsOf(source) {
  const { importedFiles, ambientExternalModules = [] } = ts.preProcessFile(source, true, true)
  return [...importedFiles.map(({ fileName }) => fileName.replace(/^node:/, '')), ...ambientExternalModules]
}

function packageOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Every file that the manifest sends a consumer to. */
function targetsOf({ exports = {}, bin = {} }) {
  const targets = [...Object.values(exports), ...Object.values(bin)].flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  return targets.map((target) => target.replace(/^\.\//, ''))
}
