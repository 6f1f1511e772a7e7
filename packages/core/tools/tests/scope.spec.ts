import { Context } from '@deepseek-ai/cordis'
import { gate } from '@loopguard/testkit'
import { agentOf, carrierOf, scopeTo, type ToolAgent } from '@loopguard/tools'
import { beforeEach, describe, expect, it } from 'vitest'
import { bogus, codeOf, Host, said } from './support.ts'

type Agent = ToolAgent & { dispose(): Promise<void> }

let host: Host
let ann: Agent
let bob: Agent

beforeEach(async () => {
  host = await Host.start()
  ann = await host.agent('ann')
  bob = await host.agent('bob')
})

const names = (agent?: ToolAgent): string[] => host.tools.schemas(agent).map(({ name }) => name)

describe('a context', () => {
  it('belongs to the agent it was scoped to, and so do all below it', async () => {
    expect(agentOf(host.ctx)).toBeUndefined()
    expect(agentOf(ann.ctx)).toBe(ann)
    expect(agentOf(ann.ctx.extend({}))).toBe(ann)
    let below: Context | undefined
    await ann.ctx.plugin({ name: 'below', apply: (ctx: Context) => void (below = ctx) })
    expect(agentOf(below as Context)).toBe(ann)
    expect(agentOf(scopeTo(ann.ctx, bob))).toBe(bob)
  })

  it('says so under a key that two copies of the package share', () => {
    expect(agentOf(host.ctx.extend({ [Symbol.for('loopguard.agent')]: ann }))).toBe(ann)
  })
})

describe('a tool that is registered through an agent', () => {
  it("is that agent's alone", async () => {
    host.tool({ name: 'diary', execute: () => "ann's" }, ann.ctx)
    expect(said(await host.call({ name: 'diary', agent: ann }))).toBe("ann's")
    for (const agent of [bob, undefined]) {
      expect(codeOf(await host.call({ name: 'diary', agent }))).toBe('UNKNOWN_TOOL')
      expect(host.tools.get('diary', agent)).toBeUndefined()
    }
  })

  it('shadows a shared one of the same name, for that agent', async () => {
    host.tool({ execute: () => "ann's" }, ann.ctx)
    expect(said(await host.call({ agent: ann }))).toBe("ann's")
    expect(said(await host.call({ agent: bob }))).toBe('done')
    expect(said(await host.call())).toBe('done')
    expect(host.tools.get('echo', ann)).not.toBe(host.tools.get('echo'))
  })

  it('takes the place of what it shadows in the schemas, and comes last otherwise', () => {
    host.tool({ name: 'z' })
    host.tool({ name: 'own' }, ann.ctx)
    host.tool({ description: "ann's" }, ann.ctx)
    host.tool({ name: 'a' })
    expect(names(ann)).toEqual(['echo', 'z', 'a', 'own'])
    expect(host.tools.schemas(ann)[0]?.description).toBe("ann's")
    expect(names(bob)).toEqual(['echo', 'z', 'a'])
    expect(names()).toEqual(['echo', 'z', 'a'])
    expect(host.tools.schemas(ann)).toBe(host.tools.schemas(ann))
    expect(host.tools.schemas(bob)).toBe(host.tools.schemas())
  })

  it("may bear the name of another agent's, not of one of its own", () => {
    host.tool({ name: 'own' }, ann.ctx)
    host.tool({ name: 'own' }, bob.ctx)
    expect(() => host.tool({ name: 'own' }, ann.ctx)).toThrow(
      expect.objectContaining({ code: 'TOOL_EXISTS', message: 'tools: a tool "own" of agent "ann" is registered already' }),
    )
  })

  it('goes with the agent, and uncovers what it shadowed', async () => {
    host.tool({ execute: () => "ann's" }, ann.ctx)
    host.tool({ name: 'own' }, ann.ctx)
    await ann.dispose()
    expect(said(await host.call({ agent: ann }))).toBe('done')
    expect(names(ann)).toEqual(['echo'])
  })

  it('by a plugin that the agent has loaded, goes with that plugin', async () => {
    const plugin = ann.ctx.plugin({ name: 'below', inject: ['tools'], apply: (ctx: Context) => void host.tool({ name: 'own' }, ctx) })
    await plugin
    expect(names(ann)).toEqual(['echo', 'own'])
    expect(names()).toEqual(['echo'])
    await plugin.dispose()
    expect(names(ann)).toEqual(['echo'])
  })
})

describe('a guard that is registered through an agent', () => {
  it("is asked about that agent's calls alone, after the shared ones, and goes with the agent", async () => {
    const asked: string[] = []
    ann.ctx.tools.guard(() => bogus(void asked.push("ann's")))
    host.tools.guard(() => bogus(void asked.push('shared')))
    for (const agent of [ann, bob, undefined]) await host.call({ agent })
    expect(asked).toEqual(['shared', "ann's", 'shared', 'shared'])
    await ann.dispose()
    await host.call({ agent: ann })
    expect(asked.slice(4)).toEqual(['shared'])
  })
})

describe('a listener that is registered through an agent', () => {
  it("hears that agent's calls alone, at every stage", async () => {
    const heard: string[] = []
    ann.ctx.on('tools/pre-execute', (_exec, next) => (heard.push('tools/pre-execute'), next()))
    ann.ctx.on('tools/execute', (_exec, next) => (heard.push('tools/execute'), next()))
    ann.ctx.on('tools/post-execute', (_exec, _result, next) => (heard.push('tools/post-execute'), next()))
    ann.ctx.on('tools/result', () => void heard.push('tools/result'))
    await host.call({ agent: bob })
    await host.call()
    expect(heard).toEqual([])
    await host.call({ agent: ann })
    expect(heard).toEqual(['tools/pre-execute', 'tools/execute', 'tools/post-execute', 'tools/result'])
    await ann.dispose()
    await host.call({ agent: ann })
    expect(heard).toHaveLength(4)
  })

  it('does not hear the calls of a child, nor the child those of its parent', async () => {
    const child = await host.agent('child', ann.ctx)
    const heard: string[] = []
    ann.ctx.on('tools/execute', (_exec, next) => (heard.push('parent'), next()))
    child.ctx.on('tools/execute', (_exec, next) => (heard.push('child'), next()))
    host.tool({ name: 'own' }, ann.ctx)
    await host.call({ agent: child })
    expect(heard).toEqual(['child'])
    await host.call({ agent: ann })
    expect(heard).toEqual(['child', 'parent'])
    expect(names(child)).toEqual(['echo'])
    await ann.dispose()
    await host.call({ agent: child })
    expect(heard).toHaveLength(2)
  })

  it('does not hear the calls of another agent of the same id, which sees none of its tools and guards', async () => {
    const heard: string[] = []
    ann.ctx.on('tools/pre-execute', (_exec, next) => (heard.push('pre'), next()))
    ann.ctx.on('tools/execute', (_exec, next) => (heard.push('execute'), next()))
    ann.ctx.on('tools/post-execute', (_exec, _result, next) => (heard.push('post'), next()))
    ann.ctx.on('tools/result', () => void heard.push('result'))
    ann.ctx.tools.guard(() => bogus(void heard.push('guard')))
    host.tool({ name: 'own' }, ann.ctx)
    const twin = await host.agent('ann')
    await host.call({ agent: twin })
    expect(heard).toEqual([])
    expect(names(twin)).toEqual(['echo'])
    host.tool({ name: 'own', execute: () => "the twin's" }, twin.ctx)
    expect(said(await host.call({ name: 'own', agent: twin }))).toBe("the twin's")
    expect(heard).toEqual([])
    expect(said(await host.call({ name: 'own', agent: ann }))).toBe('done')
    expect(heard).toEqual(['pre', 'guard', 'execute', 'post', 'result'])
  })

  it('hears everybody when it asks Cordis to', async () => {
    const heard: string[] = []
    ann.ctx.on('tools/execute', (_exec, next) => (heard.push('global'), next()), { global: true })
    await host.call({ agent: bob })
    await host.call()
    expect(heard).toEqual(['global', 'global'])
  })
})

describe('a carrier', () => {
  it('is the same for the same agent, and another for another', () => {
    expect(carrierOf(ann)).toBe(carrierOf(ann))
    expect(carrierOf(ann)).not.toBe(carrierOf(bob))
    expect(carrierOf(undefined)).toBe(carrierOf(undefined))
  })

  it('filters any event of Cordis', () => {
    const heard: string[] = []
    const event = 'tools/result'
    host.ctx.on(event, () => void heard.push('all'))
    ann.ctx.on(event, () => void heard.push('ann'))
    bob.ctx.on(event, () => void heard.push('bob'))
    const emit = (agent: ToolAgent | undefined): unknown => host.ctx.emit(bogus(carrierOf(agent)), event, bogus({}), bogus({}))
    emit(ann)
    emit(undefined)
    expect(heard).toEqual(['all', 'ann', 'all'])
  })
})

describe('a plugin that is unloaded while a call is under way', () => {
  it('lets the call end well, body, wrapper and all; later calls no longer see it', async () => {
    const [started, release] = [gate(), gate()]
    const trace: string[] = []
    const plugin = host.ctx.plugin({
      name: 'leaving',
      inject: ['tools'],
      apply(ctx: Context) {
        ctx.on('tools/execute', async (_exec, next) => {
          const result = await next()
          trace.push('wrapper')
          return result
        })
        host.tool({ name: 'slow', concludesTurn: true, execute: async () => (started.open(), await release.opened, 'slow') }, ctx)
      },
    })
    await plugin
    const running = host.call({ name: 'slow' })
    await started.opened
    await plugin.dispose()
    expect(codeOf(await host.call({ name: 'slow' }))).toBe('UNKNOWN_TOOL')
    expect(trace).toEqual([])
    release.open()
    expect(await running).toEqual({ isError: false, content: [{ type: 'text', text: 'slow' }], concludesTurn: true })
    expect(trace).toEqual(['wrapper'])
  })

  it('takes its tool along for attempts that have not begun', async () => {
    const dispose = host.tool({ name: 'flaky', execute: () => (dispose(), Promise.reject(new Error('first'))) })
    host.ctx.on('tools/execute', async (_exec, next) => (await next(), next()))
    expect(codeOf(await host.call({ name: 'flaky' }))).toBe('UNKNOWN_TOOL')
  })

  it('may be the pipeline itself: the call in flight ends well', async () => {
    const [started, release] = [gate(), gate()]
    host.body = async () => (started.open(), await release.opened, 'done')
    const { tools } = host
    const running = tools.execute(host.input())
    await started.opened
    await host.ctx.fiber.dispose()
    release.open()
    expect(said(await running)).toBe('done')
  })
})
