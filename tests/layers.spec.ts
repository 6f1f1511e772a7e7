import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = readdirSync(join(root, 'packages')).flatMap((kind) =>
  readdirSync(join(root, 'packages', kind)).map((folder) => `packages/${kind}/${folder}`),
)
const nameOf = new Map(packages.map((folder) => [folder, (JSON.parse(read(join(root, folder, 'package.json'))) as { name: string }).name]))

describe('the picture of the packages in docs/architecture.md', () => {
  const floors = floorsOf(read(join(root, 'docs/architecture.md')))

  it('has each package on one floor', () => {
    expect(floors.flat().toSorted()).toEqual(packages.map((folder) => folder.split('/').slice(1).join('/')).toSorted())
  })

  it.each(packages)('is true of %s: it imports from lower floors only, types too', (folder) => {
    const floorOf = (path: string): number => floors.findIndex((floor) => floor.includes(path.split('/').slice(1).join('/')))
    const byName = new Map([...nameOf].map(([path, name]) => [name, path]))
    const own = floorOf(folder)
    const upwards = importsOf(folder).filter((name) => name !== nameOf.get(folder) && floorOf(byName.get(name) ?? '') >= own)
    expect(upwards).toEqual([])
  })
})

it('no file imports itself, however far around, types too', () => {
  const graph = new Map(
    packages.flatMap(sourcesOf).map((file) => [
      file,
      specifiersOf(file)
        .filter((path) => path.startsWith('.'))
        .map((path) => resolve(dirname(file), path)),
    ]),
  )
  expect(circleIn(graph)?.map((file) => relative(root, file))).toBeUndefined()
})

/** The lines of the picture, lowest floor first: `4  core/session  core/tools`. */
function floorsOf(page: string): string[][] {
  const picture = /<!-- floors: checked by tests\/layers\.spec\.ts -->\s+```text\n([^`]+)```/.exec(page)?.[1] ?? ''
  return picture
    .split('\n')
    .map((line) => [...line.matchAll(/\b[a-z-]+\/[a-z-]+\b/g)].map(([name]) => name))
    .filter((floor) => floor.length > 0)
    .toReversed()
}

function importsOf(folder: string): string[] {
  const names = sourcesOf(folder)
    .flatMap(specifiersOf)
    .flatMap((path) => /^(?:@loopguard\/[^/]+|loopguard)(?=\/|$)/.exec(path)?.[0] ?? [])
  return [...new Set(names)]
}

function sourcesOf(folder: string): string[] {
  const entries = readdirSync(join(root, folder, 'src'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts')).map((entry) => join(entry.parentPath, entry.name))
}

function specifiersOf(file: string): string[] {
  return [...read(file).matchAll(/^(?:import|export)\b(?:[^'";]*? from)? '([^']+)'/gm)].map(([, path]) => path as string)
}

/** The first circle that a walk finds, in the order of the imports. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of graph.get(file) ?? []) {
      const circle = walk(next, [...path, file])
      if (circle !== undefined) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const circle = walk(file, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
