import { readFile } from 'node:fs/promises'
import { keyHint } from '@loopguard/kit'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml'
import { CompositionError } from './faults.ts'

/** A row of a composition, as the loader takes it. */
export interface Row {
  id: string
  name: string
  config?: unknown
  group?: boolean
  [key: string]: unknown
}

const ROW_KEYS = ['id', 'name', 'config', 'group', 'disabled', 'inject', 'intercept', 'isolate']

/** `!!js` text is an expression that the loader evaluates when the row starts. */
const JS_TAG = { tag: 'tag:yaml.org,2002:js', resolve: (source: string) => ({ __jsExpr: source }) }

/**
 * Reads the rows of a `cordis.yml`. A row without an `id` gets `row-<n>`.
 * @throws CompositionError that names each fault with its line and column.
 */
export async function readRows(file: string): Promise<Row[]> {
  const text = await read(file)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, customTags: [JS_TAG] })
  const sheet = new Sheet(file, document, lines)
  for (const { pos, message } of [...document.errors, ...document.warnings]) sheet.complain(pos[0], message)
  sheet.stopIfFaulty()
  const rows = sheet.rows(document.contents)
  sheet.stopIfFaulty()
  return rows
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const cause = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'is a folder, not a file' : message
    throw new CompositionError(file, [{ cause }])
  }
}

/** One pass over the document that collects every fault, not the first alone. */
class Sheet {
  private readonly file: string
  private readonly document: Document
  private readonly lines: LineCounter
  private readonly faults: string[] = []
  private readonly seen = new Map<string, string>()
  private count = 0

  constructor(file: string, document: Document, lines: LineCounter) {
    this.file = file
    this.document = document
    this.lines = lines
  }

  complain(offset: number, why: string): void {
    this.faults.push(`${this.placeOf(offset)}: ${why}`)
  }

  stopIfFaulty(): void {
    if (this.faults.length > 0)
      throw new CompositionError(
        this.file,
        this.faults.map((cause) => ({ cause })),
      )
  }

  rows(node: unknown): Row[] {
    const list = this.resolved(node)
    if (!isSeq(list)) {
      this.complain(offsetOf(list), `expected a list of rows, each with a \`name\`, got ${shown(list)}`)
      return []
    }
    return list.items.flatMap((item) => this.row(item) ?? [])
  }

  private row(node: unknown): Row | undefined {
    const number = ++this.count
    const item = this.resolved(node)
    if (!isMap(item)) {
      this.complain(offsetOf(item), `row ${number}: expected a map with a \`name\`, got ${shown(item)}`)
      return undefined
    }
    this.checkKeys(item, number)
    const row = this.valueOf(item, number)
    if (row === undefined) return undefined
    const { name, group } = row
    if (typeof name !== 'string' || name.trim() === '') {
      this.complain(
        offsetOf(item.get('name', true) ?? item),
        `row ${number}: expected a \`name\`, the package or file of a plugin, got ${shown(item.get('name', true))}`,
      )
      return undefined
    }
    const id = this.idOf(item, number)
    return { ...row, id, name, ...(group === true && { config: this.rows(item.get('config', true)) }) }
  }

  private checkKeys(item: YAMLMap, number: number): void {
    for (const { key } of item.items) {
      const name = isScalar(key) ? String(key.value) : String(key)
      if (!ROW_KEYS.includes(name)) this.complain(offsetOf(key), `row ${number}: unknown key \`${name}\`${keyHint(name, ROW_KEYS)}`)
    }
  }

  private idOf(item: YAMLMap, number: number): string {
    const node = item.get('id', true)
    const value: unknown = isScalar(node) ? node.value : node
    const place = this.placeOf(offsetOf(node ?? item))
    if (value !== undefined && (typeof value !== 'string' || value.trim() === '' || value.includes(':')))
      this.complain(offsetOf(node), `row ${number}: expected \`id\` to be text without a colon, got ${shown(node)}`)
    const id = typeof value === 'string' ? value : `row-${number}`
    const first = this.seen.get(id)
    if (first !== undefined) this.complain(offsetOf(node ?? item), `row ${number}: the id "${id}" is taken by the row at ${first}`)
    this.seen.set(id, place)
    return id
  }

  private valueOf(item: YAMLMap, number: number): Partial<Row> | undefined {
    try {
      return item.toJS(this.document) as Partial<Row>
    } catch (error) {
      this.complain(offsetOf(item), `row ${number}: ${(error as Error).message}`)
      return undefined
    }
  }

  private resolved(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.document) : node
  }

  private placeOf(offset: number): string {
    const { line, col } = this.lines.linePos(offset)
    return `${this.file}:${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
}

function offsetOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0
}

function shown(node: unknown): string {
  if (isSeq(node)) return 'a list'
  if (isMap(node)) return 'a map'
  const value = isScalar(node) ? node.value : node
  return value === undefined || value === null ? 'nothing' : JSON.stringify(value).slice(0, 80)
}
