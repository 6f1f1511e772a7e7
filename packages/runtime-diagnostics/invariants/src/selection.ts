import { inspect } from 'node:util'

/** The lists of the config, by key. */
export const LISTS = ['package_allowlist', 'package_blocklist'] as const

export type List = (typeof LISTS)[number]

interface Entry {
  readonly source: string
  readonly pattern: RegExp
}

/** Compiles one list of regular-expression sources; every fault names the list, the index and the value. */
export function compile(
  list: List,
  sources: readonly unknown[],
): { readonly entries: readonly Entry[]; readonly faults: readonly string[] } {
  const entries: Entry[] = []
  const faults: string[] = []
  for (const [index, source] of sources.entries()) {
    const at = `${list}[${index}]`
    if (typeof source !== 'string' || source.trim() === '') {
      faults.push(`${at} must be a non-blank regex source, got ${inspect(source, { depth: 0 })}`)
    } else if (source !== source.trim()) {
      faults.push(`${at} has surrounding whitespace: ${JSON.stringify(source)}`)
    } else if (sources.indexOf(source) !== index) {
      faults.push(`${at} is a duplicate regex: ${JSON.stringify(source)} stands at index ${sources.indexOf(source)} already`)
    } else {
      try {
        entries.push({ source, pattern: new RegExp(source) })
      } catch (error) {
        faults.push(`${at} is an invalid regex: ${(error as SyntaxError).message}`)
      }
    }
  }
  return { entries, faults }
}

/** Which packages have their checks installed: enabled, admitted by some allow entry (or there is none), barred by no block entry. */
export class Selection {
  private readonly enabled: boolean
  private readonly lists: Readonly<Record<List, readonly Entry[]>>

  /** @throws TypeError with every fault of the lists. */
  constructor(enabled: boolean, allow: readonly unknown[], block: readonly unknown[]) {
    const allowed = compile('package_allowlist', allow)
    const blocked = compile('package_blocklist', block)
    const faults = [...allowed.faults, ...blocked.faults]
    if (faults.length > 0) throw new TypeError(`invariants: ${faults.join('; ')}`)
    this.enabled = enabled
    this.lists = { package_allowlist: allowed.entries, package_blocklist: blocked.entries }
  }

  selects(packageName: string): boolean {
    const matches = ({ pattern }: Entry): boolean => pattern.test(packageName)
    const { package_allowlist: allow, package_blocklist: block } = this.lists
    return this.enabled && (allow.length === 0 || allow.some(matches)) && !block.some(matches)
  }

  /** The entries that match none of `packageNames`, each as `<list>: "<source>"`, in the order of the config. */
  unmatched(packageNames: readonly string[]): string[] {
    return LISTS.flatMap((list) =>
      this.lists[list]
        .filter(({ pattern }) => !packageNames.some((packageName) => pattern.test(packageName)))
        .map(({ source }) => `${list}: ${JSON.stringify(source)}`),
    )
  }
}
