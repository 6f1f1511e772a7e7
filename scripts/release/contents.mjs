// What must be in a tarball, and what must not.
import { builtinModules } from 'node:module'

const REQUIRED = ['LICENSE', 'README.md', 'package.json']
const FIELDS = ['name', 'version', 'description', 'license', 'type', 'exports', 'engines', 'files', 'sideEffects', 'keywords']
/** What a guard's declarations may name: whatever else they pulled in would bring our event types into another harness' program. */
const GUARD_TYPES = ['@deepseek-ai/cordis', '@deepseek-ai/schemastery']
const GUARDS = ['@loopguard/timeout-policy', '@loopguard/repeat-tool-reminder']

export function checkTarball(tarball) {
  return [...checkFiles(tarball), ...checkManifest(tarball), ...checkImports(tarball)]
}

function* checkFiles({ files }) {
  for (const file of REQUIRED) if (!files.includes(file)) yield `the tarball has no ${file}`
  for (const file of files) {
    if (!/^(?:lib|src)\/|^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json)$/.test(file)) yield `the tarball holds ${file}`
    if (/\.tsbuildinfo$|\.spec\./.test(file)) yield `the tarball holds ${file}`
    // Maps point at the sources: a debugger that follows one must find them.
    if (/^lib\/.*\.map$/.test(file) && !files.includes(file.replace(/^lib\//, 'src/').replace(/\.(?:d\.ts|js)\.map$/, '.ts')))
      yield `${file} maps to a source that is not in the tarball`
  }
}

function* checkManifest({ manifest, files }) {
  for (const field of FIELDS) if (manifest[field] === undefined) yield `package.json has no ${field}`
  if (/workspace:|link:|file:|@loopguard\/source/.test(JSON.stringify(manifest))) yield 'package.json still holds workspace-only fields'
  if (manifest.private) yield 'package.json says private'
  if (manifest.scripts?.install ?? manifest.scripts?.postinstall) yield 'package.json has an install script'
  const targets = [...Object.values(manifest.exports ?? {}), ...Object.values(manifest.bin ?? {})].flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  for (const target of targets)
    if (!files.includes(target.replace(/^\.\//, ''))) yield `package.json names ${target}, which is not in the tarball`
  if ('./invariant' in (manifest.exports ?? {}) !== files.includes('lib/invariant.js')) yield 'lib/invariant.js and its export go together'
}

/** Every package that a file names is one that the manifest asks for. */
function* checkImports({ manifest, files, read }) {
  const real = [...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})]
  for (const file of files.filter((entry) => /^lib\/.*\.(?:js|d\.ts)$/.test(entry))) {
    const isTypes = file.endsWith('.d.ts')
    for (const name of packagesOf(read(file))) {
      if (builtinModules.includes(name) || name === manifest.name) continue
      if (!real.includes(name)) yield `${file} imports ${name}, which is no dependency`
      if (isTypes && GUARDS.includes(manifest.name) && !GUARD_TYPES.includes(name))
        yield `${file} names ${name}: a guard's declarations bring no host`
    }
  }
}

function packagesOf(source) {
  const specifiers = [...source.matchAll(/(?:\bfrom|\bimport|\bmodule)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, specifier]) => specifier)
  const bare = specifiers.filter((specifier) => !specifier.startsWith('.')).map((specifier) => specifier.replace(/^node:/, ''))
  return new Set(
    bare.map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    ),
  )
}
