import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { answers, framesOf, type ModelServer, says, type ServedReply, startModelServer, streams } from '@loopguard/testkit/model-server'
import { gate } from '@loopguard/testkit'
import { expect, it } from 'vitest'

const PATHS = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
  google: '/models/any:streamGenerateContent?alt=sse',
} as const

const ask = (server: ModelServer, dialect: keyof typeof PATHS, signal?: AbortSignal): Promise<Response> =>
  fetch(`${server.baseURL}${PATHS[dialect]}`, { method: 'POST', body: '{"model":"any"}', ...(signal && { signal }) })

/** The data of each event. */
const eventsOf = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.slice(event.indexOf('data: ') + 'data: '.length))
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as unknown)))

const REPLY: ServedReply = {
  reasoning: 'hm, let me see',
  seal: 'sealed',
  text: 'I will look.',
  calls: [{ name: 'look', arguments: { at: 'sea' } }],
  usage: { input: 10, output: 5, cacheRead: 4, reasoning: 2 },
}

it.each(Object.keys(PATHS) as (keyof typeof PATHS)[])('a reply is told in the dialect that the path asks for: %s', async (dialect) => {
  await using server = await startModelServer([says(REPLY)])
  const response = await ask(server, dialect)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const text = await response.text()
  expect(text).toBe(framesOf(dialect, REPLY).join(''))
  const told = JSON.stringify(eventsOf(text))
  for (const word of ['look', 'I will l', 'hm, let ', 'at']) expect(told).toContain(word)
  expect(told.includes('sealed')).toBe(dialect !== 'chat')
  expect(server.requests).toMatchObject([{ path: `/v1${PATHS[dialect]}`, body: { model: 'any' }, dialect }])
})

it('byte by byte it sends the same', async () => {
  await using server = await startModelServer([says({ text: 'größer' }, { bytewise: true })])
  const { body } = await ask(server, 'chat')
  const sizes: number[] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of body ?? []) {
    sizes.push(bytes.length)
    text += decoder.decode(bytes, { stream: true })
  }
  expect(text).toBe(framesOf('chat', { text: 'größer' }).join(''))
  expect(sizes.length).toBeGreaterThan(20)
})

it('a piece that is a promise, or makes one, is waited for', async () => {
  const more = gate()
  await using server = await startModelServer([streams(['data: 1\n\n', more.opened, () => more.opened, 'data: 2\n\n'])])
  const reader = ((await ask(server, 'chat')).body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  expect(decoder.decode((await reader.read()).value)).toBe('data: 1\n\n')
  more.open()
  expect(decoder.decode((await reader.read()).value)).toBe('data: 2\n\n')
  expect((await reader.read()).done).toBe(true)
})

it('a stream is cut where it is told to, and ends as it is told to', async () => {
  await using server = await startModelServer([
    says({ text: 'one two three four' }, { cutAfter: 2 }),
    says({ text: 'one two three four' }, { cutAfter: 2, end: 'break' }),
  ])
  expect(eventsOf(await (await ask(server, 'chat')).text())).toHaveLength(2)
  await expect((await ask(server, 'chat')).text()).rejects.toThrow('terminated')
  expect(await server.requests[0]?.closed).toBe(true)
  expect(await server.requests[1]?.closed).toBe(false)
})

it('anything else is an answer too; the last entry answers all further requests', async () => {
  await using server = await startModelServer([
    answers(429, { error: { message: 'slow down' } }, { 'retry-after': '2' }),
    (request, index) => answers(404, `${request.path} ${index}`),
  ])
  const first = await ask(server, 'messages')
  expect([first.status, first.headers.get('retry-after'), await first.json()]).toEqual([429, '2', { error: { message: 'slow down' } }])
  expect(await (await ask(server, 'messages')).text()).toBe('/v1/messages 1')
  expect(await (await ask(server, 'chat')).text()).toBe('/v1/chat/completions 2')
})

it('says which connection a request came on', async () => {
  await using server = await startModelServer([says({ text: 'ok' })])
  const post = async (agent: Agent): Promise<void> => {
    const sent = request(`${server.baseURL}/chat/completions`, { method: 'POST', agent }).end('{}')
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    await once(response.resume(), 'close')
  }
  const [one, other] = [0, 1].map(() => new Agent({ keepAlive: true, maxSockets: 1 })) as [Agent, Agent]
  for (const agent of [one, one, other, one]) await post(agent)
  for (const agent of [one, other]) agent.destroy()
  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 1])
})

it('without a script it refuses', async () => {
  await using server = await startModelServer()
  expect((await ask(server, 'chat')).status).toBe(500)
  server.push(says({ text: 'ok' }))
  expect((await ask(server, 'chat')).status).toBe(200)
})

it('says when a client has gone, and a hanging request ends with the server', async () => {
  const server = await startModelServer(['hang'])
  const leaving = new AbortController()
  const left = ask(server, 'chat', leaving.signal)
  const request = await server.request(0)
  leaving.abort()
  await expect(left).rejects.toThrow('abort')
  expect(await request.closed).toBe(false)
  const hanging = ask(server, 'chat')
  await server.request(1)
  expect(await server.connections()).toBeGreaterThan(0)
  await server.close()
  await expect(hanging).rejects.toThrow('fetch failed')
})
