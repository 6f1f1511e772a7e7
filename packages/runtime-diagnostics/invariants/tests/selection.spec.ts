import type { Config } from '@loopguard/invariants'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boot } from './support.ts'

/** Those of `packages` whose installer ran. */
async function installed(config: Config, packages: string[]): Promise<string[]> {
  const { registry } = await boot(config)
  const ran: string[] = []
  for (const packageName of packages) {
    await registry.register(packageName, () => {
      ran.push(packageName)
    })
  }
  expect(registry.registrations().map(({ packageName, selected }) => [packageName, selected])).toEqual(
    packages.map((packageName) => [packageName, ran.includes(packageName)]),
  )
  return ran
}

const packages = ['@loopguard/tools', '@loopguard/llm', 'loopguard', '@other/tools']

describe('the selection', () => {
  it('takes every package by default', async () => {
    expect(await installed({}, packages)).toEqual(packages)
  })

  it('takes none when it is not enabled, admitted or not', async () => {
    expect(await installed({ enabled: false, package_allowlist: ['tools'] }, packages)).toEqual([])
  })

  it('takes what some allow entry matches', async () => {
    expect(await installed({ package_allowlist: ['tools', '^loopguard$'] }, packages)).toEqual([
      '@loopguard/tools',
      'loopguard',
      '@other/tools',
    ])
  })

  it('leaves out what some block entry matches, admitted or not', async () => {
    expect(await installed({ package_blocklist: ['^@other/', 'llm'] }, packages)).toEqual(['@loopguard/tools', 'loopguard'])
    expect(await installed({ package_allowlist: ['tools'], package_blocklist: ['^@other/'] }, packages)).toEqual(['@loopguard/tools'])
  })

  it('matches unanchored and by case', async () => {
    expect(await installed({ package_allowlist: ['oopguar'] }, packages)).toEqual(['@loopguard/tools', '@loopguard/llm', 'loopguard'])
    expect(await installed({ package_allowlist: ['Tools'] }, packages)).toEqual([])
  })

  it('answers the same however often it is asked', async () => {
    const { registry } = await boot({ package_allowlist: ['x'] })
    for (let round = 0; round < 3; round++) {
      let ran = false
      const dispose = await registry.register('x', () => {
        ran = true
      })
      expect(ran).toBe(true)
      await dispose()
    }
  })

  it('is enabled, admitted and not barred, whatever the lists', async () => {
    const source = fc.stringMatching(/^[a-c^$.]{1,3}$/)
    const list = fc.uniqueArray(source, { maxLength: 3 })
    const packageNames = fc.uniqueArray(fc.stringMatching(/^[a-c]{1,4}$/), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.boolean(), list, list, packageNames, async (enabled, allow, block, given) => {
        const hit = (sources: string[], packageName: string): boolean => sources.some((each) => packageName.search(each) >= 0)
        const wanted = given.filter((name) => enabled && (allow.length === 0 || hit(allow, name)) && !hit(block, name))
        expect(await installed({ enabled, package_allowlist: allow, package_blocklist: block }, given)).toEqual(wanted)
      }),
      { numRuns: 100 },
    )
  }, 60_000)
})

describe('list entries that match no registered package', () => {
  it('are named, list by list', async () => {
    const { registry } = await boot({ package_allowlist: ['tools', 'typo'], package_blocklist: ['^none$', 'tools'] })
    expect(registry.unmatched()).toEqual([
      'package_allowlist: "tools"',
      'package_allowlist: "typo"',
      'package_blocklist: "^none$"',
      'package_blocklist: "tools"',
    ])
    await registry.register('@loopguard/tools', () => {})
    expect(registry.unmatched()).toEqual(['package_allowlist: "typo"', 'package_blocklist: "^none$"'])
  })

  it('are none where every entry matches, also one that leaves its package out, and again some when the package has gone', async () => {
    const { registry } = await boot({ package_blocklist: ['llm'] })
    const dispose = await registry.register('@loopguard/llm', () => {})
    expect(registry.unmatched()).toEqual([])
    await dispose()
    expect(registry.unmatched()).toEqual(['package_blocklist: "llm"'])
  })

  it('are none without lists', async () => {
    expect((await boot()).registry.unmatched()).toEqual([])
  })
})
