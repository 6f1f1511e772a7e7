// The workers of the fleet: real processes, each `loopguard work`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const bin = join(root, 'packages/boot/loopguard')
const FROM_SOURCES = ['--conditions=@loopguard/source', '--import', 'tsx', join(bin, 'src/bin.ts')]

/** @param built - whether the command runs from `lib`, after `npm run build`, which starts faster. */
export function startWorker({ composition, url, folder, number, built, env = {} }) {
  const child = spawn(process.execPath, [...(built ? [join(bin, 'bin.js')] : FROM_SOURCES), 'work', composition], {
    cwd: root,
    env: { ...process.env, ...env, FLEET_URL: url, FLEET_NOTES: join(folder, `worker-${number}.jsonl`) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = once(child, 'exit')
  const ready = new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => text.includes('is ready') && resolve())
    void ended.then(([code, signal]) => reject(new Error(`worker ${number} ended with ${signal ?? code} before it was ready:\n${said}`)))
  })
  ready.catch(() => {})
  return {
    pid: child.pid,
    ready,
    /** What it wrote to standard error. */
    said: () => said,
    kill: (signal) => child.kill(signal),
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}
