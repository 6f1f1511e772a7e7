import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface FakePooler {
  readonly port: number
  close(): Promise<void>
}

const READY = 'Z'.charCodeAt(0)
const SSL_REQUEST = 80877103

/**
 * A pooler of one server connection, which it gives to whoever asks next once a transaction is over: what PgBouncer does in transaction
 * mode, for clients that need no password.
 */
export async function fakePooler(folder: string, serverPort: number): Promise<FakePooler> {
  const upstream = connect(`${folder}/.s.PGSQL.${serverPort}`)
  await once(upstream, 'connect')
  upstream.write(startup())
  let greeting = Buffer.alloc(0)
  while (!isReady(greeting)) greeting = Buffer.concat([greeting, ((await once(upstream, 'data')) as [Buffer])[0]])

  let user: Socket | undefined
  const waiting: { readonly client: Socket; readonly data: Buffer }[] = []
  upstream.on('data', (data) => {
    user?.write(data)
    // Idle, and not inside a transaction.
    if (!isReady(data) || data.at(-1) !== 'I'.charCodeAt(0)) return
    user = undefined
    const next = waiting.shift()
    if (next !== undefined) pass(next.client, next.data)
  })
  const pass = (client: Socket, data: Buffer): void => {
    if (user !== undefined && user !== client) return void waiting.push({ client, data })
    user = client
    upstream.write(data)
  }
  const server = createServer((client) => {
    let isGreeted = false
    client.on('error', () => {})
    client.on('data', (data) => {
      if (isGreeted) return data[0] === 'X'.charCodeAt(0) ? client.end() : pass(client, data)
      if (data.length === 8 && data.readInt32BE(4) === SSL_REQUEST) return client.write('N')
      isGreeted = true
      return client.write(greeting)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      upstream.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function startup(): Buffer {
  const body = Buffer.from('\0\x03\0\0user\0loopguard\0database\0postgres\0\0', 'latin1')
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([length, body])
}

/** Whether the last message is that the server is ready for the next one. */
function isReady(data: Buffer): boolean {
  return data.length >= 6 && data.at(-6) === READY && data.readInt32BE(data.length - 5) === 5
}
