import type { ToolExecutionResult, ToolRunContext } from '@loopguard/tools'
import { beforeEach, describe, expect, it } from 'vitest'
import { bogus, type CallOptions, context, contextsOf, Host, said } from './support.ts'

const concludes = (result: ToolExecutionResult): boolean => !result.isError && result.concludesTurn === true

let host: Host

/** A body that calls another tool, and says what came of it. */
const nesting =
  (name: string, options: CallOptions = {}) =>
  async (_args: unknown, exec: ToolRunContext): Promise<string> =>
    `[${said(await host.call({ name, parent: exec.token, signal: exec.signal, agent: exec.agent, ...options }))}]`

beforeEach(async () => {
  host = await Host.start()
  host.tool({
    name: 'inner',
    execute(_args, exec) {
      exec.deferContext(context('inner'))
      return 'inner'
    },
  })
})

describe('a call that names another as its parent', () => {
  it('passes all stages itself, and shows them whose child it is', async () => {
    host.body = nesting('inner')
    const seen: string[] = []
    const tokens = new Map<symbol | undefined, string>([[undefined, 'nobody']])
    const note = (stage: string, { name, token, parent }: { name: string; token: symbol; parent: symbol | undefined }): void => {
      tokens.set(token, name)
      seen.push(`${stage} ${name} of ${tokens.get(parent)}`)
    }
    host.ctx.on('tools/pre-execute', (exec, next) => (note('pre', exec), next()))
    host.ctx.on('tools/result', (exec) => note('result', exec))
    expect(said(await host.call())).toBe('[inner]')
    expect(seen).toEqual(['pre echo of nobody', 'pre inner of echo', 'result inner of echo', 'result echo of nobody'])
  })

  it('gives its contexts to that one, in the order in which all came, and keeps them on its own result', async () => {
    let own!: ToolExecutionResult
    host.body = async (_args, exec) => {
      exec.deferContext(context('before'))
      own = await host.call({ name: 'inner', parent: exec.token })
      exec.deferContext(context('after'))
      return 'done'
    }
    expect(contextsOf(await host.call())).toEqual(['before', 'inner', 'after'])
    expect(contextsOf(own)).toEqual(['inner'])
  })

  it('whose contexts the body hands on itself, as it must in other hosts, gives them once', async () => {
    host.body = async (_args, exec) => {
      const own = await host.call({ name: 'inner', parent: exec.token })
      for (const message of own.additionalContexts ?? []) exec.deferContext(message)
      return 'done'
    }
    expect(contextsOf(await host.call())).toEqual(['inner'])
  })

  it('gives what its post-execute decided, blocked or not', async () => {
    host.body = nesting('inner')
    host.ctx.on('tools/post-execute', async (exec, _result, next) =>
      exec.parent === undefined
        ? next()
        : { kind: 'block', feedback: [{ type: 'text', text: 'no' }], additionalContexts: [context('decided')] },
    )
    const result = await host.call()
    expect([said(result), contextsOf(result)]).toEqual(['[no]', ['decided']])
  })

  it('gives its conclusion, when it succeeds, to a parent that succeeds', async () => {
    host.tool({ name: 'finish', concludesTurn: true })
    host.tool({ name: 'fail', concludesTurn: true, execute: () => Promise.reject(new Error('no')) })
    host.body = nesting('finish')
    expect(concludes(await host.call())).toBe(true)
    host.body = nesting('fail')
    expect(concludes(await host.call())).toBe(false)
    host.body = async (args, exec) => (await nesting('finish')(args, exec), Promise.reject(new Error('after')))
    expect(concludes(await host.call())).toBe(false)
  })

  it('through several levels reaches the outermost', async () => {
    host.tool({ name: 'middle', execute: nesting('inner') })
    host.body = nesting('middle')
    const result = await host.call()
    expect([said(result), contextsOf(result)]).toEqual(['[[inner]]', ['inner']])
  })

  it('in an attempt that failed gives nothing to the next one', async () => {
    let attempt = 0
    host.body = async (args, exec) => {
      if (++attempt === 2) return 'second'
      await nesting('inner')(args, exec)
      throw new Error('first')
    }
    host.ctx.on('tools/execute', async (exec, next) => {
      const result = await next()
      return result.isError && exec.parent === undefined ? next() : result
    })
    const result = await host.call()
    expect([said(result), contextsOf(result)]).toEqual(['second', []])
  })

  it('is cancelled with the signal that it was given', async () => {
    const caller = new AbortController()
    host.tool({ name: 'hang', execute: (_args, { signal }) => (caller.abort(), new Promise((resolve) => resolve(String(signal.aborted)))) })
    host.body = nesting('hang')
    expect(said(await host.call({ signal: caller.signal }))).toBe('Error: tool call aborted')
  })

  it('need not be made for the same agent', async () => {
    const agent = await host.agent('a')
    host.tool({ name: 'own', execute: (_args, exec) => (exec.deferContext(context('own')), 'own') }, agent.ctx)
    host.body = nesting('own', { agent })
    const result = await host.call()
    expect([said(result), contextsOf(result)]).toEqual(['[own]', ['own']])
  })
})

describe('a call that a listener makes on behalf of another', () => {
  const nest = async (exec: { token: symbol; parent: symbol | undefined }): Promise<void> => {
    if (exec.parent === undefined) await host.call({ name: 'inner', parent: exec.token })
  }

  it.each<[string, () => void]>([
    ['pre-execute', () => host.ctx.on('tools/pre-execute', async (exec, next) => (await nest(exec), next()))],
    ['a wrapper before next()', () => host.ctx.on('tools/execute', async (exec, next) => (await nest(exec), next()))],
    [
      'a wrapper after next()',
      () =>
        host.ctx.on('tools/execute', async (exec, next) => {
          const result = await next()
          await nest(exec)
          return result
        }),
    ],
    ['post-execute', () => host.ctx.on('tools/post-execute', async (exec, _result, next) => (await nest(exec), next()))],
  ])('in %s gives its contexts to it, too', async (_name, listen) => {
    listen()
    const result = await host.call()
    expect([said(result), contextsOf(result)]).toEqual(['done', ['inner']])
  })

  it('and that concludes makes a success conclude', async () => {
    host.tool({ name: 'finish', concludesTurn: true })
    host.ctx.on('tools/pre-execute', async (exec, next) => {
      if (exec.parent === undefined) await host.call({ name: 'finish', parent: exec.token })
      return next()
    })
    expect(concludes(await host.call())).toBe(true)
    host.body = () => Promise.reject(new Error('no'))
    expect(concludes(await host.call())).toBe(false)
  })
})

describe('a parent that is not running', () => {
  it('because nobody knows it, or it has finished, is kept as given; the call runs, and keeps what is its own', async () => {
    let token: symbol | undefined
    host.body = (_args, exec) => ((token = exec.token), 'done')
    await host.call()
    for (const parent of [token, Symbol('unknown')]) {
      const seen: unknown[] = []
      const off = host.ctx.on('tools/result', (exec) => void seen.push(exec.parent))
      const result = await host.call({ name: 'inner', parent })
      expect([said(result), contextsOf(result)]).toEqual(['inner', ['inner']])
      expect(seen).toEqual([parent])
      off()
    }
  })

  it.each([false, true])('because its body did not wait for the call, gets nothing any more (a wrapper waits: %s)', async (waits) => {
    let stray!: Promise<ToolExecutionResult>
    host.ctx.on('tools/execute', async (exec, next) => {
      const result = await next()
      if (waits && exec.parent === undefined) await stray
      return result
    })
    host.tool({
      name: 'slow',
      execute: async (_args, exec) => (await new Promise(setImmediate), exec.deferContext(context('slow')), 'slow'),
    })
    host.body = (_args, exec) => {
      stray = host.call({ name: 'slow', parent: exec.token })
      return 'done'
    }
    expect(contextsOf(await host.call())).toEqual([])
    expect(contextsOf(await stray)).toEqual(['slow'])
  })
})

it('calls that have finished are not kept', async () => {
  const { live } = (host.tools as unknown as { pipeline: { live: Set<unknown> } }).pipeline
  host.body = nesting('inner')
  await Promise.all(Array.from({ length: 10 }, () => host.call()))
  await host.call({ signal: AbortSignal.abort() })
  await host.call({ arguments: undefined })
  await expect(host.tools.execute(bogus({}))).rejects.toThrow('tools: a call')
  expect(live.size).toBe(0)
})
