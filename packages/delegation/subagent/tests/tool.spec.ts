import { describe, expect, it } from 'vitest'
import { gate, userMessage } from '@loopguard/testkit'
import { asks, call, endOf, expectWhole, ids, logsOf, results, stage, tool, turns, uses, wordsOf } from './support.ts'

describe('a child', () => {
  it('has a session of its own, which begins with its parent, its depth and the call, and is asked in the name of the parent', async () => {
    const { harness, cast, parent } = await stage()
    const logs = logsOf(harness)
    cast.play('main', asks('count the files'), { text: 'there are 7' })
    cast.play('main.1', { text: '7' })
    await harness.say(parent, 'how many files?')
    const child = logs.get('main.1')!
    expect(child.slice(0, 2).map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'session/start', data: { version: 1, id: 'main.1', parent: 'main' } },
      { type: 'subagent/start', data: { parent: 'main', depth: 1, callId: 'call_1' } },
    ])
    const [request] = cast.of('main.1')
    expect(request!.messages.map(({ source, content }) => [source, wordsOf(content)])).toEqual([
      [{ kind: 'agent', agent: 'main' }, 'count the files'],
    ])
    expectWhole(child)
    expect(results(parent)).toEqual([{ text: '7' }])
    expect(parent.session.events.filter(({ type }) => type === 'subagent/spawn').map(({ data }) => data)).toEqual([
      { id: 'main.1', parent: 'main', depth: 1, callId: 'call_1' },
    ])
  })

  it('answers with its last answer that is not empty, and says so when there is none', async () => {
    const { harness, cast, parent } = await stage({ tools: [tool('look')] })
    cast.play('main', asks('a', 'b', 'c'))
    cast.play('main.1', { text: 'I look.', ...uses('look') }, { text: ' ' })
    cast.play('main.2', uses('look'), {})
    cast.play('main.3', { text: 'first', ...uses('look') }, { text: 'second' })
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([{ text: 'I look.' }, { text: '(the subagent ended without an answer)' }, { text: 'second' }])
  })

  it('makes calls of its own: they are the child’s, and not nested in the call of the parent', async () => {
    const { harness, cast, parent } = await stage({ tools: [tool('look')] })
    const heard: unknown[] = []
    harness.ctx.on('tools/pre-execute', ({ name, agent, parent: enclosing }, next) => {
      heard.push([name, agent!.id, enclosing])
      return next()
    })
    cast.play('main', asks('a'))
    cast.play('main.1', uses('look'))
    await harness.say(parent, 'go')
    expect(heard).toEqual([
      ['subagent', 'main', undefined],
      ['look', 'main.1', undefined],
    ])
  })

  it('is gone when its result is there: no agent, no session, no effect of the parent', async () => {
    const { harness, cast, parent } = await stage()
    const effects = (): number => parent.ctx.fiber.getEffects().length
    const before = effects()
    cast.play('main', asks('a', 'b', 'c'), asks('d'))
    await harness.say(parent, 'go')
    expect([ids(harness), harness.ctx.sessions.list().map(({ id }) => id), harness.ctx.subagents.list()]).toEqual([['main'], ['main'], []])
    await turns()
    expect(effects()).toBe(before)
  })

  it('works at the same time as its siblings', async () => {
    const { harness, cast, parent } = await stage()
    const all = gate()
    const begun: string[] = []
    cast.play('main', asks('a', 'b', 'c'))
    for (const id of ['main.1', 'main.2', 'main.3']) {
      cast.play(id, async () => {
        if (begun.push(id) === 3) all.open()
        await all.opened
        return { text: id }
      })
    }
    await harness.say(parent, 'go')
    expect(results(parent).map(({ text }) => text)).toEqual(['main.1', 'main.2', 'main.3'])
  })

  it('speaks as its parent does, unless the configuration says otherwise', async () => {
    const plain = await stage()
    const agent = plain.harness.agent({ id: 'talker', system: 'Be kind.', model: 'large', maxTokens: 7 })
    plain.cast.play('talker', asks('a'))
    await plain.harness.say(agent, 'go')
    expect(plain.cast.of('talker.1')[0]).toMatchObject({ system: 'Be kind.', model: 'large', maxTokens: 7, provider: 'scripted' })

    const set = await stage({ config: { system: 'You are a child.', model: 'small', provider: 'absent' } })
    const logs = logsOf(set.harness)
    set.cast.play('main', asks('a'))
    await set.harness.say(set.parent, 'go')
    expect(logs.get('main.1')!.find(({ type }) => type === 'request/header')?.data).toMatchObject({
      system: 'You are a child.',
      model: 'small',
      provider: 'absent',
    })
    expect(results(set.parent)[0]).toMatchObject({ code: 'SUBAGENT_FAILED' })
  })
})

describe('a request of code', () => {
  it('says how its child speaks, before the configuration', async () => {
    const { harness, cast, parent } = await stage({ config: { system: 'You are a child.', model: 'small' } })
    await harness.ctx.subagents.run({ parent, prompt: 'a', system: 'You are mine.', model: 'large' })
    expect(cast.of('main.1')[0]).toMatchObject({ system: 'You are mine.', model: 'large' })
  })
})

describe('a child that does not complete is an error, with what it had said', () => {
  it('cut by the token limit', async () => {
    const { harness, cast, parent } = await stage()
    cast.play('main', asks('a'))
    cast.play('main.1', { text: 'so far', finish: 'max-tokens' })
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([
      { code: 'SUBAGENT_FAILED', text: 'Error: subagent "main.1" did not complete: max-tokens; its last words:\n\nso far' },
    ])
  })

  it('failed', async () => {
    const { harness, cast, parent } = await stage({ tools: [tool('look')] })
    cast.play('main', asks('a'))
    cast.play('main.1', { text: 'so far', ...uses('look') }, () => {
      throw Object.assign(new Error('no more'), { code: 'QUOTA' })
    })
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([
      { code: 'SUBAGENT_FAILED', text: 'Error: subagent "main.1" did not complete: error QUOTA: no more; its last words:\n\nso far' },
    ])
  })

  it('blocked', async () => {
    const { harness, cast, parent } = await stage()
    harness.ctx.on('agent/pre-step', ({ agent }, next) => (agent.id === 'main.1' ? Promise.resolve({ kind: 'reject' as const }) : next()))
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([
      { code: 'SUBAGENT_FAILED', text: 'Error: subagent "main.1" did not complete: blocked; it had said nothing' },
    ])
    expect(ids(harness)).toEqual(['main'])
  })

  it.each<[string, readonly string[], string]>([
    ['of its turn', ['maxStepsPerTurn'], 'blocked (budget.maxStepsPerTurn)'],
    ['of the agent', ['maxTokensPerAgent'], 'blocked (budget.maxTokensPerAgent)'],
    ['and one of calls, which ends nothing', ['maxTurnMs', 'maxCallsPerTurn'], 'blocked (budget.maxTurnMs)'],
    ['of calls alone', ['maxEqualCalls'], 'blocked'],
  ])('blocked by a cap %s: it says which', async (_what, limits, words) => {
    const { harness, cast, parent } = await stage()
    harness.ctx.on('agent/pre-step', ({ agent }, next) => {
      if (agent.id !== 'main.1') return next()
      for (const limit of limits) agent.session.append('budget/reached' as never, { turn: 1, step: 1, limit, value: 3 } as never)
      return Promise.resolve({ kind: 'reject' })
    })
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    expect(results(parent)[0]?.text).toBe(`Error: subagent "main.1" did not complete: ${words}; it had said nothing`)
  })

  it('cancelled by a cap: it says which', async () => {
    const { harness, cast, parent } = await stage()
    cast.play('main', asks('a'))
    cast.play('main.1', () => {
      harness.ctx.agentLoop.list()[1]!.cancel({ kind: 'budget', limit: 'maxTurnMs' } as never)
      return 'hang'
    })
    await harness.say(parent, 'go')
    expect(results(parent)[0]?.text).toContain('did not complete: aborted (budget.maxTurnMs); ')
  })

  it('blocked in a later turn, by no cap: one that was reached in an earlier turn is not named, unless it is the agent’s', async () => {
    const { harness, cast, parent } = await stage()
    const child = (limit: string) => {
      const { agent, done } = harness.ctx.subagents.start({ parent, prompt: 'a' })
      cast.play(agent.id, () => {
        agent.session.append('budget/reached' as never, { turn: 1, step: 1, limit, value: 3 } as never)
        agent.followup(userMessage('again'))
        return { text: 'once' }
      })
      return done
    }
    harness.ctx.on('agent/pre-step', ({ turn }, next) => (turn === 2 ? Promise.resolve({ kind: 'reject' }) : next()))
    expect((await child('maxStepsPerTurn')).limit).toBeUndefined()
    expect((await child('maxAgentMs')).limit).toBe('budget.maxAgentMs')
  })

  it('cancelled, but not by its parent, in the middle and before it began', async () => {
    const { harness, cast, parent } = await stage({
      tools: [tool('stop', (_args, { agent }) => (harness.ctx.agentLoop.get(agent!.id)!.cancel(), 'stopped'))],
    })
    harness.ctx.on('agent/created', ({ agent }) => {
      if (agent.id === 'main.2') queueMicrotask(() => agent.cancel())
    })
    cast.play('main', asks('a', 'b'))
    cast.play('main.1', { text: 'I stop.', ...uses('stop') })
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([
      { code: 'SUBAGENT_FAILED', text: 'Error: subagent "main.1" did not complete: aborted (user); its last words:\n\nI stop.' },
      { code: 'SUBAGENT_FAILED', text: 'Error: subagent "main.2" did not complete: interrupted; it had said nothing' },
    ])
    expect([ids(harness), endOf(parent.session.events)]).toEqual([['main'], 'completed'])
  })
})

describe('cancelling the parent', () => {
  it('with three running children: all are gone, cancelled by their parent, and all logs are whole', async () => {
    const { harness, cast, parent } = await stage({ tools: [tool('wait', (_args, { signal }) => aborted(signal))] })
    const logs = logsOf(harness)
    const working = gate()
    let count = 0
    const begun = (): void => {
      if (++count === 3) working.open()
    }
    cast.play('main', asks('a', 'b', 'c'))
    cast.play('main.1', () => (begun(), 'hang'))
    cast.play('main.2', { text: 'I wait.', ...uses('wait') })
    cast.play('main.3', { text: 'I ask.', ...asks('d') })
    cast.play('main.3.1', () => (begun(), 'hang'))
    harness.ctx.on('tools/execute', ({ name }, next) => {
      if (name === 'wait') begun()
      return next()
    })
    parent.followup(userMessage('go'))
    await working.opened
    expect(ids(harness)).toEqual(['main', 'main.1', 'main.2', 'main.3', 'main.3.1'])
    parent.cancel()
    await parent.whenIdle()
    expect([ids(harness), harness.ctx.sessions.list().map(({ id }) => id)]).toEqual([['main'], ['main']])
    expect(Array.from(logs, ([id, events]) => `${id} ${endOf(events)}`).toSorted()).toEqual([
      'main aborted by user',
      'main.1 aborted by parent',
      'main.2 aborted by parent',
      'main.3 aborted by parent',
      'main.3.1 aborted by parent',
    ])
    for (const events of logs.values()) expectWhole(events)
    expect(results(parent).map(({ code }) => code)).toEqual(['ABORTED', 'ABORTED', 'ABORTED'])
    expect(results(parent)[1]?.text).toContain('its last words:\n\nI wait.')
  })

  it('in the same breath as its child is made: the child never asks the model', async () => {
    const { harness, cast, parent } = await stage()
    harness.ctx.on('agent/created', ({ agent }) => {
      if (agent.id === 'main.1') queueMicrotask(() => parent.cancel())
    })
    cast.play('main', asks('a'))
    await harness.say(parent, 'go')
    expect([ids(harness), cast.of('main.1').length]).toEqual([['main'], 0])
    expect(endOf(parent.session.events)).toBe('aborted by user')
  })

  it('before the call has begun: no child is made', async () => {
    const { harness, parent } = await stage()
    const logs = logsOf(harness)
    const result = await call(harness, 'subagent', { description: 'a', prompt: 'a' }, { agent: parent, signal: AbortSignal.abort() })
    expect(result).toMatchObject({ isError: true, error: { info: { code: 'ABORTED_BEFORE_DISPATCH' } } })
    expect([...logs.keys()]).toEqual([])
  })

  it('leaves no listener on a signal, also when the child fails or is cancelled', async () => {
    const { harness, cast, parent } = await stage()
    const controller = new AbortController()
    let listeners = 0
    const { signal } = controller
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
    })
    cast.play('main.2', () => {
      throw new Error('no')
    })
    for (let round = 0; round < 3; round++) await harness.ctx.subagents.run({ parent, prompt: 'a', signal })
    expect(listeners).toBe(0)
    const heard: number[] = []
    cast.play('main.4', () => (heard.push(listeners), controller.abort(), 'hang'))
    expect((await harness.ctx.subagents.run({ parent, prompt: 'a', signal })).reason).toMatchObject({ reason: { kind: 'parent' } })
    expect([heard, listeners]).toEqual([[1], 0])
  })
})

describe('the tool', () => {
  it('may have another name, and is gone when the plugin is', async () => {
    const { harness, cast, parent } = await stage({ config: { toolName: 'delegate' } })
    cast.play('main', uses('delegate', { description: 'a', prompt: 'a' }))
    await harness.say(parent, 'go')
    expect(results(parent)).toEqual([{ text: 'done' }])
    expect(harness.ctx.tools.get('subagent')).toBeUndefined()
  })

  it('refuses a prompt that says nothing, a stray argument, and a call without an agent of the loop', async () => {
    const { harness, parent } = await stage()
    const code = async (args: object, agent: object | undefined = parent): Promise<unknown> => {
      const result = await call(harness, 'subagent', args, agent === undefined ? {} : { agent: agent as never })
      return result.isError ? result.error.info?.code : result
    }
    expect(await code({ description: 'a', prompt: ' ' })).toBe('INVALID_ARGS')
    expect(await code({ description: 'a', prompt: 'a', run_in_background: true })).toBe('INVALID_ARGS')
    const alone = await call(harness, 'subagent', { description: 'a', prompt: 'a' })
    expect(alone).toMatchObject({ error: { info: { code: 'BAD_SUBAGENT' } } })
    expect(ids(harness)).toEqual(['main'])
  })
})

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
}
