import { keyHint } from '@loopguard/kit'
import { CompositionError, type Fault } from './faults.ts'
import { complaintOf, isGroup, isText, KEYS, shown } from './row-keys.ts'
import { type Path, readYaml } from './yaml-file.ts'

/** A row of a composition, as the loader takes it. */
export interface Row {
  id: string
  name: string
  config?: unknown
  group?: boolean
  [key: string]: unknown
}

/** What row lists are read from: a file, or a value that a row holds. */
export interface Source {
  readonly file: string
  readonly placeOf: (path: Path) => string | undefined
  readonly placeOfKey: (path: Path, key: string) => string | undefined
}

/**
 * Reads the rows of a `cordis.yml`. A row without an `id` gets `row-<n>`.
 * @throws CompositionError that names each fault with its line and column.
 */
export async function readRows(file: string): Promise<Row[]> {
  const source = await readYaml(file)
  return checkedRows(source.value, source)
}

/**
 * The rows of a list, checked, with an id for each.
 * @param prefix - what the ids begin with that are made up.
 * @throws CompositionError that names every fault.
 */
export function checkedRows(value: unknown, source: Source, path: Path = [], prefix = 'row'): Row[] {
  const reader = new RowReader(source, prefix)
  const rows = reader.rows(value, path)
  if (reader.faults.length > 0) throw new CompositionError(source.file, reader.faults)
  return rows
}

const places = new WeakMap<object, string>()

/** Where a row stands that was read from a file. */
export function placeOfRow(row: object): string | undefined {
  return places.get(row)
}

/** One pass over a list that collects every fault, not the first alone. */
class RowReader {
  readonly faults: Fault[] = []
  private readonly source: Source
  private readonly prefix: string
  private readonly seen = new Map<string, string | undefined>()
  private count = 0

  constructor(source: Source, prefix: string) {
    this.source = source
    this.prefix = prefix
  }

  /** @param group - the row whose `config` the list is. */
  rows(value: unknown, path: Path, group?: Row): Row[] {
    if (Array.isArray(value)) return value.flatMap((item, index) => this.row(item, [...path, index]) ?? [])
    const subject = group === undefined ? {} : { row: group.id, package: group.name }
    const what = group === undefined ? 'expected' : 'expected `config` to be'
    this.faults.push({
      place: this.source.placeOf(path),
      ...subject,
      cause: `${what} a list of rows, each with a \`name\`, got ${shown(value)}`,
    })
    return []
  }

  private row(value: unknown, path: Path): Row | undefined {
    const made = `${this.prefix}-${++this.count}`
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.faults.push({ place: this.source.placeOf(path), row: made, cause: `expected a map with a \`name\`, got ${shown(value)}` })
      return undefined
    }
    const given = value as Readonly<Record<string, unknown>>
    const id = isText(given['id']) ? given['id'] : made
    const name = isText(given['name']) ? given['name'] : undefined
    const complain = (place: string | undefined, cause: string): void => {
      this.faults.push({ place, row: id, package: name, cause })
    }
    for (const [key, item] of Object.entries(given)) {
      if (!KEYS.includes(key))
        complain(this.source.placeOfKey(path, key), `unknown key \`${key}\` (with the value ${shown(item)})${keyHint(key, KEYS)}`)
      const complaint = complaintOf(key, item)
      if (complaint !== undefined) complain(this.source.placeOf([...path, key]), complaint)
    }
    if (!('name' in given)) complain(this.source.placeOf(path), 'the key `name` is missing: expected the package or file of a plugin')
    this.claim(id, this.source.placeOf('id' in given ? [...path, 'id'] : path), complain)
    if (name === undefined) return undefined
    const row: Row = { ...given, id, name }
    if (isGroup(row)) row.config = this.rows(given['config'], [...path, 'config'], row)
    const place = this.source.placeOf(path)
    if (place !== undefined) places.set(row, place)
    return row
  }

  private claim(id: string, place: string | undefined, complain: (place: string | undefined, cause: string) => void): void {
    if (this.seen.has(id)) complain(place, `the id "${id}" is taken by the row at ${this.seen.get(id) ?? 'another place'}`)
    else this.seen.set(id, place)
  }
}
