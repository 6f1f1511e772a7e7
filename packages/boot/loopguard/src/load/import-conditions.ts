/** What `import` in Node looks for in the `exports` of a package, besides what the command line asks for. */
const DEFAULTS = ['node', 'import', 'module-sync', 'node-addons']

/** The conditions of `import` in this process: Node does not list them, but it was told the additional ones as it was started. */
export function importConditions(
  execArgv: readonly string[] = process.execArgv,
  nodeOptions: string = process.env['NODE_OPTIONS'] ?? '',
): Set<string> {
  const args = [...nodeOptions.split(/\s+/), ...execArgv]
  const asked = args.flatMap((arg, index) => {
    const [, inline] = /^(?:--conditions|-C)=(.*)$/.exec(arg) ?? []
    if (inline !== undefined) return [inline]
    return arg === '--conditions' || arg === '-C' ? (args[index + 1] ?? []) : []
  })
  return new Set([...DEFAULTS, ...asked])
}
