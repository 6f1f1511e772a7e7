import { readFile } from 'node:fs/promises'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { CompositionError } from './faults.ts'
import { faultsOfSyntax } from './yaml-faults.ts'

export type Path = readonly (string | number)[]

/** A YAML (or JSON) file, parsed. */
export interface YamlFile {
  readonly file: string
  readonly value: unknown
  /** Where the value at a path stands, or else what is nearest around it: `<file>:<line>:<column>`. */
  readonly placeOf: (path: Path) => string
  /** Where a key of the map at a path stands. */
  readonly placeOfKey: (path: Path, key: string) => string
}

/** `!!js` text is an expression that the loader evaluates when the row starts. */
const JS_TAG = { tag: 'tag:yaml.org,2002:js', resolve: (source: string) => ({ __jsExpr: source }) }

/** @throws CompositionError that says why the file cannot be read, or where it is no YAML. */
export async function readYaml(file: string): Promise<YamlFile> {
  const text = withoutMark(await read(file))
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, customTags: [JS_TAG] })
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  const faults = faultsOfSyntax(document, text)
  if (faults.length > 0) throw new CompositionError(file, placed(faults, placeAt))
  const loose = faultsOfAliases(document)
  if (loose.length > 0) throw new CompositionError(file, placed(loose, placeAt))
  return {
    file,
    value: valueOf(document, file),
    placeOf: (path) => placeAt(offsetOf(nodeAt(document, path))),
    placeOfKey: (path, key) => placeAt(offsetOf(keyOf(document, nodeAt(document, path), key))),
  }
}

/** A byte order mark says nothing in UTF-8, but some editors write one. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const cause = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'is a folder, not a file' : message
    throw new CompositionError(file, [{ cause, error }])
  }
}

interface At {
  readonly offset: number
  readonly cause: string
}

function placed(faults: readonly At[], placeAt: (offset: number) => string): { place: string; cause: string }[] {
  return faults.map(({ offset, cause }) => ({ place: placeAt(offset), cause }))
}

/** Aliases that lead nowhere, or into what encloses them: neither has a value. */
function faultsOfAliases(document: Document): At[] {
  const faults: At[] = []
  visit(document, {
    Alias: (_, alias, path) => {
      const target = alias.resolve(document)
      const { source } = alias
      if (target === undefined)
        faults.push({ offset: offsetOf(alias), cause: `\`*${source}\` names no anchor: expected \`&${source}\` before it` })
      else if (path.includes(target))
        faults.push({ offset: offsetOf(alias), cause: `\`*${source}\` stands inside of \`&${source}\`: a value cannot hold itself` })
    },
  })
  return faults
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS() as unknown
  } catch (error) {
    throw new CompositionError(file, [{ cause: (error as Error).message, error }])
  }
}

function nodeAt(document: Document, path: Path): unknown {
  let node: unknown = document.contents
  for (const key of path) {
    const child = childOf(document, resolved(document, node), key)
    if (child === undefined || child === null) break
    node = child
  }
  return node
}

function childOf(document: Document, node: unknown, key: string | number): unknown {
  if (isSeq(node)) return node.items[Number(key)]
  if (!isMap(node)) return undefined
  const own = node.items.find((pair) => nameOf(pair.key) === key)
  if (own !== undefined) return own.value
  return mergedInto(document, node)
    .map((source) => childOf(document, source, key))
    .find((child) => child !== undefined)
}

/** The maps behind `<<`. */
function mergedInto(document: Document, node: unknown): unknown[] {
  if (!isMap(node)) return []
  return node.items
    .filter((pair) => nameOf(pair.key) === '<<')
    .map((pair) => resolved(document, pair.value))
    .flatMap((value) => (isSeq(value) ? value.items.map((item) => resolved(document, item)) : [value]))
}

function keyOf(document: Document, node: unknown, key: string): unknown {
  const map = resolved(document, node)
  if (!isMap(map)) return node
  const own = map.items.find((pair) => nameOf(pair.key) === key)
  if (own !== undefined) return own.key
  const source = mergedInto(document, map).find((merged) => childOf(document, merged, key) !== undefined)
  return source === undefined ? map : keyOf(document, source, key)
}

function resolved(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node
}

/** With merging on, `<<` is a symbol. */
function nameOf(key: unknown): string | undefined {
  const name: unknown = isScalar(key) ? key.value : key
  return typeof name === 'symbol' ? name.description : String(name)
}

function offsetOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0
}
