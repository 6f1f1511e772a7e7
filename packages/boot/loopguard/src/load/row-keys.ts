/** The keys of a row. */
export const KEYS: readonly string[] = ['id', 'name', 'config', 'group', 'disabled', 'inject', 'intercept', 'isolate']

/** Names under which a group of rows is loaded. */
const GROUPS = new Set(['cordis:group', '@deepseek-ai/cordis-plugin-group'])

/** Whether the `config` of a row holds rows. */
export function isGroup({ name, group }: { readonly name: string; readonly group?: unknown }): boolean {
  return group === true || GROUPS.has(name)
}

const EXPECTED = new Map<string, readonly [wish: string, accepts: (value: unknown) => boolean]>([
  ['id', ['to be text without a colon', (value) => isText(value) && !value.includes(':')]],
  ['name', ['to be the package or file of a plugin', isText]],
  ['group', ['to be true or false', isBoolean]],
  ['disabled', ['to be true, false or an expression (`!!js …`)', (value) => isBoolean(value) || isExpression(value)]],
  ['inject', ['to be a list of services, or a map', (value) => isMap(value) || (Array.isArray(value) && value.every(isText))]],
  ['intercept', ['to be a map of services', isMap]],
  ['isolate', ['to be a map of services to true or to a name', (value) => isMap(value) && Object.values(value).every(isRealm)]],
])

/** Nothing behind a key is the same as no key, except where a value is a must. */
const REQUIRED = new Set(['id', 'name'])

/** Why a value is refused; `undefined` when it is not. */
export function complaintOf(key: string, value: unknown): string | undefined {
  const [wish, accepts] = EXPECTED.get(key) ?? []
  if (wish === undefined || accepts?.(value) === true) return undefined
  if ((value === null || value === undefined) && !REQUIRED.has(key)) return undefined
  return `expected \`${key}\` ${wish}, got ${shown(value)}${hintOf(key, value)}`
}

/** What people write who come from another YAML, or from another kind of expression. */
function hintOf(key: string, value: unknown): string {
  if (typeof value !== 'string') return ''
  if (/^\$\{\{.*\}\}$/.test(value.trim())) return ': an expression is written `!!js …`'
  const isFlag = key === 'disabled' || key === 'group'
  const meant = isFlag && /^(?:(?<no>n|no|off|false)|y|yes|on|true)$/i.exec(value.trim())
  return meant ? `, which is text: write \`${meant.groups?.['no'] === undefined}\`` : ''
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

/** `!!js`, as the loader takes it. */
export function isExpression(value: unknown): value is { readonly __jsExpr: string } {
  return isMap(value) && '__jsExpr' in value && typeof value['__jsExpr'] === 'string'
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRealm(value: unknown): boolean {
  return value === true || isText(value)
}

/** A value in the words of YAML. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (isExpression(value)) return `the expression \`${value.__jsExpr.slice(0, 80)}\``
  return typeof value === 'object' ? 'a map' : JSON.stringify(value).slice(0, 80)
}
