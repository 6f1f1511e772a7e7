import { createUserMessage, type UserMessage } from '@loopguard/llm'
import type { ToolDefinition, ToolExecutionResult, ToolRunContext } from '@loopguard/tools'
import { describe, expect, it } from 'vitest'
import { bogus, codeOf, context, contextsOf, Host, said, unfrozen } from './support.ts'

const concludes = (result: ToolExecutionResult): boolean => !result.isError && result.concludesTurn === true

/** A body that defers and concludes as its attempt says, and then succeeds or fails. */
function attempts(...scripts: readonly { readonly defers?: string[]; readonly concludes?: boolean; readonly fails?: boolean }[]) {
  let attempt = 0
  return (_args: unknown, exec: ToolRunContext): string => {
    const script = scripts[attempt++] ?? {}
    for (const text of script.defers ?? []) exec.deferContext(context(text))
    if (script.concludes === true) exec.concludeTurn()
    if (script.fails === true) throw new Error(`attempt ${attempt}`)
    return `attempt ${attempt}`
  }
}

const retryOnce = ({ ctx }: Host): void =>
  void ctx.on('tools/execute', async (_exec, next) => {
    const first = await next()
    return first.isError ? next() : first
  })

describe('what a body defers', () => {
  it('stands on the result, in order, each message once, frozen', async () => {
    const message = context('twice')
    const host = await Host.start((_args, exec) => {
      exec.deferContext(context('one'))
      exec.deferContext(message)
      exec.deferContext(message)
      exec.deferContext(context('three'))
      return 'done'
    })
    const result = await host.call()
    expect(contextsOf(result)).toEqual(['one', 'twice', 'three'])
    expect(unfrozen(result)).toEqual([])
  })

  it('stands on a failure, too', async () => {
    const host = await Host.start(attempts({ defers: ['before'], fails: true }))
    const result = await host.call()
    expect([codeOf(result), contextsOf(result)]).toEqual([undefined, ['before']])
  })

  it('and a conclusion can be said with methods taken off the execution', async () => {
    const host = await Host.start((_args, { deferContext, concludeTurn }) => {
      deferContext(context('loose'))
      concludeTurn()
      return 'done'
    })
    const result = await host.call()
    expect([contextsOf(result), concludes(result)]).toEqual([['loose'], true])
  })

  it.each<[unknown, string]>([
    ['text', 'message must be a user message, got "text"'],
    [undefined, 'message is undefined'],
    [{ id: 'a', role: 'assistant', content: [], source: { kind: 'user' } }, 'message.role must be "user", got "assistant"'],
    [{ id: 5, role: 'user', content: [], source: { kind: 'user' } }, 'message.id must be non-empty text, got 5'],
    [{ id: '', role: 'user', content: [], source: { kind: 'user' } }, 'message.id must be non-empty text, got ""'],
    [{ id: 'a', role: 'user', content: [] }, 'message.source must have a kind, got undefined'],
    [
      { id: 'a', role: 'user', content: 'text', source: { kind: 'user' } },
      'message.content must be an array of content blocks, got "text"',
    ],
  ])('%# must be a user message', async (message, why) => {
    const host = await Host.start((_args, exec) => (exec.deferContext(bogus(message)), 'done'))
    expect(await host.call()).toMatchObject({ error: { message: `tool "echo": exec.deferContext: ${why}`, info: { code: 'BAD_CONTEXT' } } })
  })

  it('after it has settled is refused, loudly, and changes nothing', async () => {
    let kept!: ToolRunContext
    const host = await Host.start((_args, exec) => ((kept = exec), 'done'))
    const result = await host.call()
    const refused = expect.objectContaining({ code: 'CALL_FINISHED' }) as Error
    expect(() => kept.deferContext(context('late'))).toThrow(refused)
    expect(() => kept.concludeTurn()).toThrow(refused)
    expect(() => kept.concludeTurn()).toThrow('tool "echo": exec.concludeTurn was called after its body had settled')
    expect(result).toEqual({ isError: false, content: [{ type: 'text', text: 'done' }] })
  })

  it.each<[string, ToolDefinition['execute'], string | undefined]>([
    ['throws', () => Promise.reject(new Error('broken')), undefined],
    ['answers with what is no output', () => bogus(42), 'INVALID_TOOL_OUTPUT'],
  ])('after it has failed is refused as well, when the body %s', async (_title, ends, code) => {
    let kept!: ToolRunContext
    const host = await Host.start((args, exec) => ((kept = exec), ends(args, exec)))
    const refused = expect.objectContaining({ code: 'CALL_FINISHED' }) as Error
    const late = (): void => {
      expect(() => kept.deferContext(context('late'))).toThrow(refused)
      expect(() => kept.concludeTurn()).toThrow(refused)
    }
    const seen: unknown[] = []
    host.ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      seen.push([codeOf(result), contextsOf(result)])
      late()
      return { isError: false, content: [] }
    })
    const result = await host.call()
    late()
    expect(seen).toEqual([[code, []]])
    expect(result).toEqual({ isError: false, content: [] })
  })

  it('of an attempt that is over does not slip into the next one', async () => {
    const kept: ToolRunContext[] = []
    const host = await Host.start((_args, exec) => {
      kept.push(exec)
      if (kept.length === 1) throw new Error('first')
      expect(() => kept[0]?.deferContext(context('stray'))).toThrow('after its body had settled')
      return 'done'
    })
    retryOnce(host)
    const result = await host.call()
    expect([said(result), contextsOf(result)]).toEqual(['done', []])
  })
})

describe('of several attempts, only the last one counts', () => {
  it('when the first defers and fails', async () => {
    const host = await Host.start(attempts({ defers: ['first'], concludes: true, fails: true }, { defers: ['second'] }))
    retryOnce(host)
    const result = await host.call()
    expect([said(result), contextsOf(result), concludes(result)]).toEqual(['attempt 2', ['second'], false])
  })

  it('when all of them fail', async () => {
    const host = await Host.start(attempts({ defers: ['first'], fails: true }, { defers: ['second'], fails: true }))
    retryOnce(host)
    expect(contextsOf(await host.call())).toEqual(['second'])
  })

  it('when the wrapper gives back what an earlier one came to, as it was or rebuilt', async () => {
    for (const rebuilt of [false, true]) {
      const host = await Host.start(attempts({ defers: ['first'], concludes: true }, { defers: ['second'] }))
      host.ctx.on('tools/execute', async (_exec, next) => {
        const first = await next()
        await next()
        return rebuilt ? { ...first } : first
      })
      const result = await host.call()
      expect([said(result), contextsOf(result), concludes(result)]).toEqual(['attempt 1', ['second'], false])
    }
  })

  it('when the last one did not get to its body', async () => {
    const host = await Host.start(attempts({ defers: ['first'] }))
    host.ctx.on('tools/execute', async (exec, next) => {
      await next()
      exec.signal = AbortSignal.abort()
      return next()
    })
    const result = await host.call()
    expect([codeOf(result), contextsOf(result)]).toEqual(['ABORTED_BEFORE_DISPATCH', []])
  })

  it('and a message that both have deferred is there', async () => {
    const message = context('both')
    let attempt = 0
    const host = await Host.start((_args, exec) => {
      exec.deferContext(message)
      if (++attempt === 1) throw new Error('first')
      return 'done'
    })
    retryOnce(host)
    expect(contextsOf(await host.call())).toEqual(['both'])
  })
})

describe('a wrapper', () => {
  const own = (extra: object = {}): ToolExecutionResult => ({ isError: false, content: [{ type: 'text', text: 'own' }], ...extra })

  it('that makes a result of its own takes neither contexts nor conclusion from the body', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'], concludes: true }))
    host.ctx.on('tools/execute', async (_exec, next) => (await next(), own()))
    const result = await host.call()
    expect([said(result), contextsOf(result), concludes(result)]).toEqual(['own', ['deferred'], true])
  })

  it('that throws after the body takes nothing from it but its success', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'], concludes: true }))
    host.ctx.on('tools/execute', async (_exec, next) => (await next(), Promise.reject(new Error('broken'))))
    const result = await host.call()
    expect([said(result), contextsOf(result), concludes(result)]).toEqual(['Error: broken', ['deferred'], false])
  })

  it('may add contexts, which come after those of the body, each once', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'] }))
    const added = context('added')
    host.ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      return { ...result, additionalContexts: [added, ...(result.additionalContexts ?? []), added] }
    })
    expect(contextsOf(await host.call())).toEqual(['deferred', 'added'])
  })

  it('may conclude, with a body or without', async () => {
    const host = await Host.start()
    host.ctx.on('tools/execute', async (_exec, next) => own({ ...(await next()), concludesTurn: true }))
    expect(concludes(await host.call())).toBe(true)
    host.ctx.on('tools/execute', async () => own({ concludesTurn: true }))
    expect(concludes(await host.call())).toBe(true)
  })

  it('that answers in the place of a tool which always concludes, concludes', async () => {
    const host = await Host.start(undefined, { concludesTurn: true })
    expect(concludes(await host.call())).toBe(true)
    host.ctx.on('tools/execute', async () => own())
    expect(concludes(await host.call())).toBe(true)
    host.ctx.on('tools/execute', async () => Promise.reject(new Error('no')), { prepend: true })
    expect(concludes(await host.call())).toBe(false)
  })

  it('that gives a result of its own gives a frozen copy of it, of the fields that a result has', async () => {
    const given = {
      isError: true as const,
      content: [{ type: 'text' as const, text: 'x' }],
      error: { message: 'x', info: { name: 'N', code: 'C' } },
      extra: 1,
    }
    const host = await Host.start()
    host.ctx.on('tools/execute', async () => given)
    const result = await host.call()
    const { extra: _extra, ...fields } = given
    expect(result).toEqual(fields)
    expect(unfrozen(result)).toEqual([])
    expect(unfrozen(given)).toHaveLength(5)
  })

  it.each<[unknown, string]>([
    [null, 'returned null, not a result'],
    ['done', 'returned "done", not a result'],
    [[], 'returned an array, not a result'],
    [{}, 'gave a result that cannot be used: result.isError must be true or false, got undefined'],
    [{ isError: 0, content: [] }, 'gave a result that cannot be used: result.isError must be true or false, got 0'],
    [{ isError: false, content: 'x' }, 'gave a result that cannot be used: result.content must be an array of content blocks, got "x"'],
    [{ isError: false }, 'gave a result that cannot be used: result.content is undefined'],
    [
      { isError: false, content: [{ type: 'text' }] },
      'gave a result that cannot be used: result.content[0].text must be text, got undefined',
    ],
    [
      { isError: false, content: [], concludesTurn: 1 },
      'gave a result that cannot be used: result.concludesTurn must be true or left out, got 1',
    ],
    [{ isError: true, content: [] }, 'gave a result that cannot be used: result.error must be { message, info? }, got undefined'],
    [{ isError: true, content: [], error: {} }, 'gave a result that cannot be used: result.error.message must be text, got undefined'],
    [
      { isError: true, content: [], error: { message: 'x', info: 'C' } },
      'gave a result that cannot be used: result.error.info must be { name, code }, got "C"',
    ],
    [
      { isError: true, content: [], error: { message: 'x', info: { code: 'C' } } },
      'gave a result that cannot be used: result.error.info must hold a name and a code as text, got undefined and "C"',
    ],
    [
      { isError: false, content: [], additionalContexts: 'x' },
      'gave a result that cannot be used: result.additionalContexts must be an array of user messages, got "x"',
    ],
    [
      { isError: false, content: [], additionalContexts: [5] },
      'gave a result that cannot be used: result.additionalContexts[0] must be a user message, got 5',
    ],
  ])('%# that gives no result fails the call, and is named', async (answer, why) => {
    const host = await Host.start()
    await host.ctx.plugin({ name: 'wrapper', apply: (ctx: Host['ctx']) => void ctx.on('tools/execute', async () => bogus(answer)) })
    const result = await host.call()
    expect([codeOf(result), said(result)]).toEqual(['BAD_ANSWER', `Error: tools/execute: a listener of plugin "wrapper" ${why}`])
  })

  it('may leave fields undefined instead of leaving them out', async () => {
    const host = await Host.start()
    host.ctx.on('tools/execute', async () =>
      bogus({ isError: false, content: [], additionalContexts: undefined, concludesTurn: undefined }),
    )
    expect(await host.call()).toEqual({ isError: false, content: [] })
  })
})

describe('post-execute', () => {
  const feedback = [{ type: 'text' as const, text: 'no' }]

  it('sees the frozen outcome, with what the body deferred', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'] }))
    const seen: ToolExecutionResult[] = []
    host.ctx.on('tools/post-execute', (_exec, result, next) => (seen.push(result), next()))
    const result = await host.call()
    expect(seen).toEqual([result])
    expect(unfrozen(seen)).toEqual([seen])
  })

  it('that accepts adds its contexts after those of the body, and keeps the conclusion', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'], concludes: true }))
    host.ctx.on('tools/post-execute', async () => ({ kind: 'accept', additionalContexts: [context('decided')] }))
    const result = await host.call()
    expect([said(result), contextsOf(result), concludes(result)]).toEqual(['attempt 1', ['deferred', 'decided'], true])
    expect(unfrozen(result)).toEqual([])
  })

  it('that accepts with other content replaces the content and nothing else', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'], concludes: true }))
    host.ctx.on('tools/post-execute', async () => ({ kind: 'accept', content: [{ type: 'text', text: 'shorter' }] }))
    const result = await host.call()
    expect([said(result), contextsOf(result), concludes(result)]).toEqual(['shorter', ['deferred'], true])
    host.body = () => Promise.reject(Object.assign(new Error('x'), { code: 'X' }))
    expect(await host.call()).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'shorter' }],
      error: { message: 'x', info: { name: 'Error', code: 'X' } },
    })
  })

  it('that blocks drops what the body deferred and its conclusion, and keeps its own contexts', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'], concludes: true }))
    host.ctx.on('tools/post-execute', async () => ({ kind: 'block', feedback, additionalContexts: [context('decided')] }))
    const result = await host.call()
    expect(result).toMatchObject({
      isError: true,
      content: feedback,
      error: { message: 'no', info: { name: 'ToolBlockedError', code: 'BLOCKED' } },
    })
    expect(contextsOf(result)).toEqual(['decided'])
    expect(unfrozen(result)).toEqual([])
  })

  it('that fails lets nothing of the outcome through', async () => {
    const host = await Host.start(attempts({ defers: ['deferred'], concludes: true }))
    host.ctx.on('tools/post-execute', () => Promise.reject(new Error('vetting failed')))
    expect(await host.call()).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'Error: vetting failed' }],
      error: { message: 'vetting failed' },
    })
  })

  it.each<[unknown, string]>([
    [undefined, 'returned undefined, not a decision (did it forget `return next()`?)'],
    [true, 'returned true, not a decision'],
    [[], 'returned an array, not a decision'],
    [{ kind: 'allow' }, 'gave a decision that cannot be used: its kind is "allow", not accept or block'],
    [{ kind: 'accept', content: 'x' }, 'gave a decision that cannot be used: content must be an array of content blocks, got "x"'],
    [{ kind: 'accept', content: [{ type: 'text', text: 5 }] }, 'gave a decision that cannot be used: content[0].text must be text, got 5'],
    [{ kind: 'block' }, 'gave a decision that cannot be used: feedback is undefined'],
    [{ kind: 'block', feedback: 'no' }, 'gave a decision that cannot be used: feedback must be an array of content blocks, got "no"'],
    [
      { kind: 'accept', additionalContexts: ['x'] },
      'gave a decision that cannot be used: additionalContexts[0] must be a user message, got "x"',
    ],
    [
      { kind: 'block', feedback: [], additionalContexts: {} },
      'gave a decision that cannot be used: additionalContexts must be an array of user messages, got an object',
    ],
  ])('%# that gives no decision fails the call, and is named', async (answer, why) => {
    const host = await Host.start()
    await host.ctx.plugin({ name: 'vetting', apply: (ctx: Host['ctx']) => void ctx.on('tools/post-execute', async () => bogus(answer)) })
    const result = await host.call()
    expect([codeOf(result), said(result)]).toEqual(['BAD_ANSWER', `Error: tools/post-execute: a listener of plugin "vetting" ${why}`])
  })

  it('keeps messages of any plugin as they are', async () => {
    const own: UserMessage = createUserMessage({ content: [{ type: 'text', text: 'x' }], source: { kind: 'user' } })
    const host = await Host.start()
    host.ctx.on('tools/post-execute', async () => ({ kind: 'accept', additionalContexts: [own] }))
    expect((await host.call()).additionalContexts?.[0]).toBe(own)
  })
})
