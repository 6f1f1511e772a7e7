// A Postgres server of one's own: on a free port of loopback and a socket, in a temporary folder, as another user than root (whom it
// refuses). It is gone with the process that started it.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const DEBIAN = '/usr/lib/postgresql'
export const PASSWORD = 'correct-horse'

/** The folder of `initdb` and `postgres`, the newest where there are several; undefined where there is none. */
export function postgresBin() {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [...debian.map((version) => join(DEBIAN, version, 'bin')), ...(process.env.PATH ?? '').split(delimiter)]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/** @param settings - of the server, such as `fsync=off`. */
export async function startPostgres({ settings = [] } = {}) {
  const bin = postgresBin()
  if (bin === undefined) throw new Error('there is no Postgres: install the package `postgresql`')
  const user = userOf()
  const folder = mkdtempSync(join(tmpdir(), 'lg-pg-'))
  const data = join(folder, 'data')
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, PASSWORD)
  for (const path of [folder, keyFile]) if (user.uid !== undefined) chownSync(path, user.uid, user.gid)
  const auth = ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${keyFile}`]
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'loopguard', '-E', 'UTF8', '--locale=C', '-N', ...auth], {
    ...user,
    stdio: 'ignore',
  })
  const port = await freePort()
  const options = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`, 'max_connections=200', ...settings]
  const args = [join(bin, 'postgres'), '-D', data, ...options.flatMap((option) => ['-c', option])]
  // It ends with us, also when we are killed.
  const [command, ...rest] = hasSetpriv() ? ['setpriv', '--pdeathsig', 'INT', ...args] : args
  let child
  let said = ''

  async function start() {
    child = spawn(command, rest, { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    const server = child
    server.stderr.setEncoding('utf8')
    await new Promise((resolve, reject) => {
      said = ''
      server.stderr.on('data', (text) => {
        said = (said + text).slice(-20_000)
        if (said.includes('ready to accept connections')) resolve()
      })
      server.once('exit', (code) => reject(new Error(`postgres ended with ${code}:\n${said}`)))
    })
  }

  async function end(signal) {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  await start()
  return {
    folder,
    port,
    /** Over the socket, without a password. */
    url: `postgres://loopguard@/postgres?host=${encodeURIComponent(folder)}&port=${port}`,
    /** Over TCP, with the password. */
    tcp: `postgres://loopguard:${PASSWORD}@127.0.0.1:${port}/postgres`,
    start,
    /** Ends it at once, with all its connections; `start` brings it back. */
    halt: () => end('SIGQUIT'),
    stop: async () => {
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Root starts it as the user that the package brings. */
function userOf() {
  if (process.getuid?.() !== 0) return {}
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function hasSetpriv() {
  try {
    accessSync('/usr/bin/setpriv')
    return spawnSync('setpriv', ['--pdeathsig', 'INT', 'true']).status === 0
  } catch {
    return false
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
