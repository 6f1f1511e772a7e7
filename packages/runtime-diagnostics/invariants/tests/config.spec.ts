import { Context } from '@deepseek-ai/cordis'
import InvariantRegistry, { Config } from '@loopguard/invariants'
import { describe, expect, it } from 'vitest'
import { boot } from './support.ts'

const load = async (config: unknown): Promise<void> => {
  await new Context().plugin(InvariantRegistry, config as Config)
}

describe('the config', () => {
  it('has defaults for every key, and for no config at all', () => {
    const defaults = { enabled: true, package_allowlist: [], package_blocklist: [] }
    for (const config of [{}, undefined, null]) expect(Config['~standard'].validate(config)).toEqual({ value: defaults })
  })

  it('takes what it promises to take', async () => {
    const config = { enabled: false, package_allowlist: ['^@loopguard/', 'tools$'], package_blocklist: ['x|y', 'tools$'] }
    await expect(load(config)).resolves.toBeUndefined()
    expect(Config['~standard'].validate(config)).toEqual({ value: config })
  })

  it.each([
    [{ packageAllowlist: ['x'] }, 'invariants: unknown key `packageAllowlist`, did you mean `package_allowlist`?'],
    [{ enabled: true, enabeld: false }, 'invariants: unknown key `enabeld`, did you mean `enabled`?'],
    [{ enabled: null }, 'invariants: `enabled` is null; leave it out to get its default'],
    [{ package_allowlist: null }, 'invariants: `package_allowlist` is null'],
    [{ package_blocklist: null }, 'invariants: `package_blocklist` is null'],
    [{ enabled: 'no' }, 'expected boolean but got no'],
    [{ package_allowlist: 'x' }, 'expected array but got x'],
    [{ package_allowlist: [''] }, "package_allowlist[0] must be a non-blank regex source, got ''"],
    [{ package_blocklist: ['x', ' \t'] }, "package_blocklist[1] must be a non-blank regex source, got ' \\t'"],
    [{ package_blocklist: [null] }, 'package_blocklist[0] must be a non-blank regex source, got null'],
    [{ package_allowlist: [5] }, 'package_allowlist[0] must be a non-blank regex source, got 5'],
    [{ package_allowlist: [' x'] }, 'package_allowlist[0] has surrounding whitespace: " x"'],
    [{ package_allowlist: ['x\n'] }, 'package_allowlist[0] has surrounding whitespace: "x\\n"'],
    [{ package_allowlist: ['x', 'y', 'x'] }, 'package_allowlist[2] is a duplicate regex: "x" stands at index 0 already'],
    [{ package_blocklist: ['ok', '('] }, 'package_blocklist[1] is an invalid regex: Invalid regular expression: /(/: Unterminated group'],
    ['enabled', 'invariants: the configuration must be a map, got "enabled"'],
  ])('refuses %j at load', async (config, message) => {
    await expect(load(config)).rejects.toThrow(message)
  })

  it('names every fault at once', async () => {
    await expect(load({ enabled: null, package_allowlist: ['', '['], nope: 1 })).rejects.toThrow(
      /`enabled` is null[^]*unknown key `nope`[^]*package_allowlist\[0\][^]*package_allowlist\[1\]/,
    )
  })

  it('is refused by the service itself when nothing validated it before', () => {
    const ctx = new Context()
    expect(() => new InvariantRegistry(ctx, { package_allowlist: ['['], package_blocklist: [' '] })).toThrow(
      /^invariants: package_allowlist\[0\] is an invalid regex.*; package_blocklist\[0\] must be a non-blank regex source/,
    )
  })

  it('is that of the service, whose plugin name is "invariants"', async () => {
    expect(InvariantRegistry.Config).toBe(Config)
    const { service } = await boot()
    expect(service).toMatchObject({ name: 'invariants' })
  })
})
