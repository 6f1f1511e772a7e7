import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServerAnswer } from './answer.ts'
import type { Dialect } from './reply.ts'

/** A request that came in. */
export interface ServedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON body. */
  readonly body: unknown
  readonly dialect: Dialect
  /** Which connection it came on, counted from 1: a client that keeps its connections uses one again. */
  readonly connection: number
  /** Settles when the answer is over: `true` when it was sent to its end, `false` when the connection went before. */
  readonly closed: Promise<boolean>
}

/** An answer; `hang` sends nothing, not even headers; a function makes one of the request. */
export type ServerEntry = ServerAnswer | 'hang' | ((request: ServedRequest, index: number) => ServerAnswer | 'hang')

/** A model on the loopback interface, which reads its answers off a script. */
export interface ModelServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40001/v1`. */
  readonly baseURL: string
  /** Oldest first. */
  readonly requests: readonly ServedRequest[]
  /** Adds entries at the end. */
  push(...entries: readonly ServerEntry[]): void
  /** Settles with the request of that index, once it has come. */
  request(index: number): Promise<ServedRequest>
  /** How many connections are open. */
  connections(): Promise<number>
  /** Breaks what is open, and waits until all is closed. */
  close(): Promise<void>
}

/** Starts a server. The last entry of the script answers all further requests; without any, they are refused with status 500. */
export async function startModelServer(entries: readonly ServerEntry[] = []): Promise<ModelServer> {
  const script = [...entries]
  const requests: ServedRequest[] = []
  const waiting = new Map<number, (request: ServedRequest) => void>()
  const connections = new WeakMap<object, number>()
  let connected = 0
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy())
  })
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const connection = connections.get(incoming.socket) ?? ++connected
    connections.set(incoming.socket, connection)
    const request = await read(incoming, response, connection)
    const index = requests.push(request) - 1
    waiting.get(index)?.(request)
    const entry = script[Math.min(index, script.length - 1)]
    const answer = typeof entry === 'function' ? entry(request, index) : entry
    if (answer === undefined) response.writeHead(500).end('the script of the model server is empty')
    else if (answer !== 'hang') await send(answer, request.dialect, response)
  }
  // Models are slow, and tests wait for gates.
  Object.assign(server, { requestTimeout: 0, headersTimeout: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    push: (...more) => void script.push(...more),
    request: (index) => {
      const there = requests[index]
      return there === undefined ? new Promise((resolve) => waiting.set(index, resolve)) : Promise.resolve(there)
    },
    connections: () => new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count)))),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function read(incoming: IncomingMessage, response: ServerResponse, connection: number): Promise<ServedRequest> {
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += String(piece)
  const path = incoming.url ?? ''
  const closed = once(response, 'close').then(() => response.writableFinished)
  return {
    path,
    headers: incoming.headers,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    dialect: dialectOf(path),
    connection,
    closed,
  }
}

function dialectOf(path: string): Dialect {
  if (path.includes('/messages')) return 'messages'
  if (path.includes('/responses')) return 'responses'
  return path.includes('GenerateContent') ? 'google' : 'chat'
}

async function send(answer: ServerAnswer, dialect: Dialect, response: ServerResponse): Promise<void> {
  const { status, headers, bytewise = false, end = 'clean', cutAfter = Infinity } = answer
  response.writeHead(status, headers).flushHeaders()
  for (const piece of answer.body(dialect).slice(0, cutAfter)) {
    if (response.destroyed) return
    if (typeof piece !== 'string') await (typeof piece === 'function' ? piece() : piece)
    else if (bytewise) await sendBytes(response, piece)
    else await written(response, piece)
  }
  if (end === 'clean') response.end()
  else if (end === 'break') response.destroy()
}

async function sendBytes(response: ServerResponse, piece: string): Promise<void> {
  for (const byte of Buffer.from(piece)) {
    await written(response, Uint8Array.of(byte))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A client that has gone is no fault of the script. */
function written(response: ServerResponse, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => response.write(data, () => resolve()))
}
