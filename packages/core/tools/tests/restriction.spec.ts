import type { ToolAgent, ToolExecution, ToolNameFilter } from '@loopguard/tools'
import { beforeEach, describe, expect, it } from 'vitest'
import { codeOf, Host, said } from './support.ts'

type Agent = ToolAgent & { dispose(): Promise<void> }

let host: Host
let ann: Agent
let bob: Agent

beforeEach(async () => {
  host = await Host.start()
  host.tool({ name: 'look' })
  ann = await host.agent('ann')
  bob = await host.agent('bob')
})

const names = (agent?: ToolAgent): string[] => host.tools.schemas(agent).map(({ name }) => name)
const only =
  (...kept: readonly string[]): ToolNameFilter =>
  (name) =>
    kept.includes(name)

describe('a restriction of an agent', () => {
  it('hides a tool from that agent alone: it is not offered, not found, and a call of it is UNKNOWN_TOOL', async () => {
    ann.ctx.tools.restrict(only('look'))
    expect([names(ann), names(bob), names()]).toEqual([['look'], ['echo', 'look'], ['echo', 'look']])
    expect(host.tools.get('echo', ann)).toBeUndefined()
    expect(codeOf(await host.call({ agent: ann }))).toBe('UNKNOWN_TOOL')
    expect(said(await host.call({ name: 'look', agent: ann }))).toBe('done')
    for (const agent of [bob, undefined]) expect(said(await host.call({ agent }))).toBe('done')
  })

  it('holds for its own tools too, and for those that come later', () => {
    host.tool({ name: 'own' }, ann.ctx)
    ann.ctx.tools.restrict(only('look', 'late'))
    expect(names(ann)).toEqual(['look'])
    host.tool({ name: 'late' })
    host.tool({ name: 'other' }, ann.ctx)
    expect(names(ann)).toEqual(['look', 'late'])
  })

  it('uncovers nothing: a hidden tool of its own does not give way to the shared one', async () => {
    host.tool({ execute: () => "ann's" }, ann.ctx)
    const lift = ann.ctx.tools.restrict(only('look'))
    expect(codeOf(await host.call({ agent: ann }))).toBe('UNKNOWN_TOOL')
    lift()
    expect(said(await host.call({ agent: ann }))).toBe("ann's")
  })

  it('ends with its disposer, and of several all must keep a name', () => {
    const lift = ann.ctx.tools.restrict(only('look', 'echo'))
    const liftOther = ann.ctx.tools.restrict(only('echo'))
    expect(names(ann)).toEqual(['echo'])
    liftOther()
    expect(names(ann)).toEqual(['echo', 'look'])
    lift()
    lift()
    expect(host.tools.schemas(ann)).toBe(host.tools.schemas())
  })

  it('that is given twice holds until both are taken away', () => {
    const filter = only('look')
    const [one, other] = [ann.ctx.tools.restrict(filter), ann.ctx.tools.restrict(filter)]
    one()
    expect(names(ann)).toEqual(['look'])
    other()
    expect(names(ann)).toEqual(['echo', 'look'])
  })

  it('goes with the agent, and nothing is left of it', async () => {
    const effects = (): number => host.ctx.fiber.getEffects().length
    const before = effects()
    const carl = await host.agent('carl')
    carl.ctx.tools.restrict(() => false)
    expect(names(carl)).toEqual([])
    await carl.dispose()
    expect(names(carl)).toEqual(['echo', 'look'])
    expect(effects()).toBe(before)
  })

  it('lets no other call of it through: it is asked at the dispatch, so a call that waited for approval finds the tool gone', async () => {
    host.ctx.on('tools/pre-execute', (exec: ToolExecution, next) => {
      exec.agent?.ctx.tools.restrict(() => false)
      return next()
    })
    expect(codeOf(await host.call({ agent: ann }))).toBe('UNKNOWN_TOOL')
  })
})

describe('a restriction for all', () => {
  it('holds for every agent, and for calls without one', async () => {
    const lift = host.tools.restrict(only('look'))
    host.tool({ name: 'own' }, ann.ctx)
    expect([names(ann), names(bob), names()]).toEqual([['look'], ['look'], ['look']])
    for (const agent of [ann, undefined]) expect(codeOf(await host.call({ agent }))).toBe('UNKNOWN_TOOL')
    lift()
    expect([names(ann), names()]).toEqual([
      ['echo', 'look', 'own'],
      ['echo', 'look'],
    ])
  })
})

describe('a filter', () => {
  it.each([
    ['throws', () => raise()],
    ['answers with a promise', () => Promise.resolve(true)],
    ['answers with something that is true in effect', () => 1],
    ['answers nothing', () => undefined],
  ])('that %s hides every tool', (_what, filter) => {
    ann.ctx.tools.restrict(filter as never)
    expect(names(ann)).toEqual([])
    expect(host.tools.get('echo', ann)).toBeUndefined()
    expect(host.tools.executionMode({ name: 'echo', arguments: {}, agent: ann })).toEqual({ kind: 'exclusive' })
  })

  it('that is no function is refused', () => {
    expect(() => ann.ctx.tools.restrict('look' as never)).toThrow(
      expect.objectContaining({
        code: 'BAD_RESTRICTION',
        message: 'tools: a restriction must be a function of a tool\'s name, got "look"',
      }),
    )
    expect(names(ann)).toEqual(['echo', 'look'])
  })
})

function raise(): never {
  throw new Error('no')
}
