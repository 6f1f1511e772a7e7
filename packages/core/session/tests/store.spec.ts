import { Context } from '@deepseek-ai/cordis'
import { SessionId } from '@loopguard/llm'
import SessionStore, { SessionStore as Named } from '@loopguard/session'
import { describe, expect, it } from 'vitest'
import { codeOfRejection, codeThrownBy, hostWith, rejectionOf, storeIn, storyOf, tempDir, thrownBy, typesOf } from './support.ts'

const places = [
  ['in memory', () => undefined],
  ['with a directory', () => tempDir()],
] as const

describe.each(places)('%s', (_place, directory) => {
  it('creates a session that starts with session/start, and lists it until it is closed', async () => {
    const store = await storeIn(directory())
    const [a, b] = [store.create('a'), store.create('b', { parent: SessionId('a') })]
    expect([a.events[0]?.data, b.events[0]?.data]).toEqual([
      { version: 1, id: 'a' },
      { version: 1, id: 'b', parent: 'a' },
    ])
    expect([store.get('a'), store.get('b'), store.get('c'), store.list()]).toEqual([a, b, undefined, [a, b]])
    a.close()
    expect([store.get('a'), store.list()]).toEqual([undefined, [b]])
  })

  it('finds an id of its own when it is given none', async () => {
    const store = await storeIn(directory())
    const [a, b] = [store.create(), store.create()]
    expect(a.id).not.toBe(b.id)
    expect(store.get(a.id)).toBe(a)
    expect(a.events[0]?.data).toEqual({ version: 1, id: a.id })
  })

  it('refuses an id that is taken', async () => {
    const store = await storeIn(directory())
    const session = store.create('a')
    expect(thrownBy(() => store.create('a'))).toMatchObject({ code: 'SESSION_EXISTS', message: 'session "a" exists already' })
    expect(store.get('a')).toBe(session)
  })

  it('loading an open session is SESSION_OPEN, loading one that never was is SESSION_NOT_FOUND', async () => {
    const store = await storeIn(directory())
    store.create('a')
    expect(await codeOfRejection(store.load('a'))).toBe('SESSION_OPEN')
    expect(await codeOfRejection(store.load('b'))).toBe('SESSION_NOT_FOUND')
    expect(await codeOfRejection(store.load('../b'))).toBe('BAD_SESSION_ID')
  })

  it('a listener of session/start finds the session in the store', async () => {
    const ctx = await hostWith({ ...(directory() !== undefined && { directory: tempDir() }) })
    const found: boolean[] = []
    ctx.on('session/event', (session) => void found.push(ctx.sessions.get(session.id) === session))
    ctx.sessions.create('a')
    expect(found).toEqual([true])
  })

  it('a session whose first event is refused leaves nothing: the id can be taken again', async () => {
    const ctx = await hostWith({ ...(directory() !== undefined && { directory: tempDir() }) })
    const veto = ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'session/event') throw new Error('not now')
    })
    expect(() => ctx.sessions.create('a')).toThrow('not now')
    expect([ctx.sessions.get('a'), ctx.sessions.list()]).toEqual([undefined, []])
    veto()
    expect(typesOf(ctx.sessions.create('a'))).toEqual(['session/start'])
  })

  it('an adopted session has one owner, and a closed one gets none', async () => {
    const store = await storeIn(directory())
    const session = store.create('a')
    expect(session.adopted).toBe(false)
    session.adopt()
    expect(session.adopted).toBe(true)
    expect(codeThrownBy(() => session.adopt())).toBe('SESSION_OWNED')
    session.close()
    expect(codeThrownBy(() => session.adopt())).toBe('SESSION_CLOSED')
  })

  it('unloading closes what nobody adopted, and leaves the rest open for its owner', async () => {
    const ctx = new Context()
    const path = directory()
    const fiber = await ctx.plugin(SessionStore, path === undefined ? {} : { directory: path })
    const store = ctx.sessions
    const [own, adopted] = [store.create('own'), store.create('adopted')]
    adopted.adopt()
    await fiber.dispose()
    expect([own.closed, adopted.closed]).toEqual([true, false])
    adopted.append('turn/start', { turn: 1 })
    expect(storyOf(adopted)).toEqual([['turn/start', { turn: 1 }]])
    adopted.close()
    expect(store.list()).toEqual([])
    expect(codeThrownBy(() => store.create('late'))).toBe('SESSION_STORE_CLOSED')
    expect(await codeOfRejection(store.load('own'))).toBe('SESSION_STORE_CLOSED')
  })

  it('events of an adopted session are still heard while and after the store unloads', async () => {
    const ctx = new Context()
    const path = directory()
    const fiber = await ctx.plugin(SessionStore, path === undefined ? {} : { directory: path })
    const session = ctx.sessions.create('a')
    session.adopt()
    const heard: string[] = []
    ctx.on('session/event', (_session, event) => void heard.push(event.type))
    const going = fiber.dispose()
    session.append('turn/start', { turn: 1 })
    await going
    session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
    session.close()
    expect(heard).toEqual(['turn/start', 'turn/end'])
  })
})

it('is the default export and the named one, and provides ctx.sessions', async () => {
  expect(SessionStore).toBe(Named)
  const ctx = await hostWith()
  expect(ctx.sessions).toBeInstanceOf(SessionStore)
})

it('without a directory a closed session is gone, and its id is free', async () => {
  const store = await storeIn()
  store.create('a').close()
  expect(await rejectionOf(store.load('a'))).toMatchObject({
    code: 'SESSION_NOT_FOUND',
    message: 'there is no session "a" in memory; without a directory a closed session is gone',
  })
  expect(typesOf(store.create('a'))).toEqual(['session/start'])
})

it('two stores of two hosts do not know of each other', async () => {
  const [one, two] = [await storeIn(), await storeIn()]
  one.create('a')
  expect(two.get('a')).toBeUndefined()
  two.create('a')
})
