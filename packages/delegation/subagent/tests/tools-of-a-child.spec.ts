import { describe, expect, it } from 'vitest'
import type { ToolFilter } from '@loopguard/subagent'
import type { ApprovalService } from '@loopguard/tools'
import { asks, logsOf, results, stage, type Stage, tool, uses } from './support.ts'

const TOOLS = ['read_file', 'read_web', 'write_file', 'bash'].map((name) => tool(name))

/** The tools that each request of an agent offers. */
const offered = ({ cast }: Stage, id: string): string[][] => cast.of(id).map(({ tools = [] }) => tools.map(({ name }) => name))

describe('toolFilter', () => {
  it.each<[string, ToolFilter, string[]]>([
    ['allow', { allow: ['read_*'] }, ['read_file', 'read_web']],
    ['allow with several patterns', { allow: ['*_file', 'bash'] }, ['read_file', 'write_file', 'bash']],
    ['allow nothing', { allow: [] }, []],
    ['deny', { deny: ['subagent', '*_*'] }, ['bash']],
    ['deny nothing', { deny: [] }, ['subagent', 'read_file', 'read_web', 'write_file', 'bash']],
    [
      'a pattern is no expression',
      { deny: ['.*', 'read.file', 'BASH', 'bas'] },
      ['subagent', 'read_file', 'read_web', 'write_file', 'bash'],
    ],
  ])('of the configuration: %s', async (_what, toolFilter, wanted) => {
    const it = await stage({ tools: TOOLS, config: { toolFilter } })
    const logs = logsOf(it.harness)
    it.cast.play('main', asks('a'))
    it.cast.play('main.1', { calls: TOOLS.map(({ name }) => ({ name, arguments: {} })) })
    await it.harness.say(it.parent, 'go')
    expect(offered(it, 'main.1')[0]).toEqual(wanted)
    expect(offered(it, 'main')[0]).toEqual(['subagent', ...TOOLS.map(({ name }) => name)])
    const got = results({ session: { events: logs.get('main.1')! } }).map(({ code }) => code)
    expect(got).toEqual(TOOLS.map(({ name }) => (wanted.includes(name) ? undefined : 'UNKNOWN_TOOL')))
  })

  it('of a request narrows the one of the configuration, and neither hides the tools that the request brings', async () => {
    const it = await stage({ tools: TOOLS, config: { toolFilter: { allow: ['read_*', 'bash'] } } })
    const { subagents } = it.harness.ctx
    await subagents.run({ parent: it.parent, prompt: 'a', toolFilter: { deny: ['read_web'] }, tools: [tool('report') as never] })
    await subagents.run({ parent: it.parent, prompt: 'a', toolFilter: { allow: ['write_file', 'bash'] } })
    expect([offered(it, 'main.1'), offered(it, 'main.2')]).toEqual([[['read_file', 'bash', 'report']], [['bash']]])
  })
})

describe('what a parent may not use', () => {
  it('its child may not either, nor the child of the child, though its own filter would keep it', async () => {
    const it = await stage({ tools: TOOLS })
    it.parent.ctx.tools.restrict((name) => name !== 'bash')
    it.cast.play('main', asks('a'))
    it.cast.play('main.1', asks('b'))
    await it.harness.say(it.parent, 'go')
    const kept = ['subagent', 'read_file', 'read_web', 'write_file']
    expect([offered(it, 'main.1')[0], offered(it, 'main.1.1')[0]]).toEqual([kept, kept])
    await it.harness.ctx.subagents.run({ parent: it.parent, prompt: 'a', toolFilter: { allow: ['bash', 'read_web'] } })
    expect(offered(it, 'main.2')[0]).toEqual(['read_web'])
  })

  it('is asked anew: what is taken from the parent while the child works is taken from the child', async () => {
    const it = await stage({ tools: TOOLS })
    const logs = logsOf(it.harness)
    it.cast.play('main.1', uses('bash'), () => {
      it.parent.ctx.tools.restrict((name) => name !== 'bash')
      return uses('bash')
    })
    await it.harness.ctx.subagents.run({ parent: it.parent, prompt: 'a' })
    expect(results({ session: { events: logs.get('main.1')! } }).map(({ code }) => code)).toEqual([undefined, 'UNKNOWN_TOOL'])
    expect(offered(it, 'main.1').map((names) => names.includes('bash'))).toEqual([true, true, false])
  })

  it('tools of the parent’s own are not the child’s', async () => {
    const it = await stage()
    it.parent.ctx.tools.register(tool('diary'))
    await it.harness.ctx.subagents.run({ parent: it.parent, prompt: 'a' })
    expect(offered(it, 'main.1')).toEqual([['subagent']])
  })
})

describe('an approval in a child', () => {
  it.each<[string, ApprovalService | undefined]>([
    ['there is no approval service', undefined],
    ['the service is unavailable', { request: async () => 'unavailable' }],
    ['it is rejected', { request: async () => 'rejected' }],
  ])('is a denial when %s, and the child goes on', async (_what, approval) => {
    const { harness, cast, parent } = await stage({ tools: TOOLS })
    const logs = logsOf(harness)
    if (approval !== undefined) harness.ctx.provide('approval', approval)
    harness.ctx.on('tools/pre-execute', ({ name }, next) => (name === 'bash' ? Promise.resolve({ kind: 'ask' as const }) : next()))
    cast.play('main', asks('a'))
    cast.play('main.1', uses('bash'), { text: 'I may not.' })
    await harness.say(parent, 'go')
    expect(results({ session: { events: logs.get('main.1')! } }).map(({ code }) => code)).toEqual(['DENIED'])
    expect(results(parent)).toEqual([{ text: 'I may not.' }])
  })
})
