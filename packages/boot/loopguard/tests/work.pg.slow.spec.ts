import { afterAll, beforeAll, expect, it } from 'vitest'
import { PASSWORD, type PostgresServer, startPostgres } from '../../../../scripts/postgres.mjs'
import { folder, printed, run, start } from './cli.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres({ settings: ['fsync=off'] })), 240_000)
afterAll(async () => server.stop())

const ROWS = `
- name: '@loopguard/llm'
- { name: '@loopguard/session-postgres', config: { urlEnv: LG_URL, worker: night shift } }
- name: '@loopguard/tools'
- { name: '@loopguard/testkit/scripted-model', config: { script: script.yml } }
- name: '@loopguard/agent-loop'
  config: { agents: [{ id: clerk, provider: scripted, model: m, prompt: not sent by a worker }] }
`

it(
  'tables are made, messages are queued, a worker runs their agents and drains when it is asked to end',
  { timeout: 240_000 },
  async () => {
    const cwd = folder({ 'cordis.yml': ROWS, 'script.yml': '- { text: Hello!, repeat: 10 }\n' })
    const options = { cwd, env: { LG_URL: server.tcp } }
    const shown = `postgres://loopguard@127.0.0.1:${server.port}/postgres`
    expect(await run(['migrate'], options)).toEqual({ code: 0, out: `the schema "loopguard" of ${shown} is ready`, err: '' })
    const worker = start(['work', '--stop-limit', '60000'], options)
    await printed(worker, 'worker "night shift" is ready')
    expect(await run(['send', 'clerk', 'hi', '--id', 'm1'], options)).toEqual({ code: 0, out: 'queued m1', err: '' })
    worker.kill('SIGTERM')
    const { exitCode, stdout, stderr } = await worker
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: 'worker "night shift" is ready',
      stderr: 'SIGTERM: draining; a second one ends at once',
    })
    expect(stdout + stderr).not.toContain(PASSWORD)
  },
)

it('a worker whose database is not there does not start, and says why', { timeout: 240_000 }, async () => {
  const cwd = folder({ 'cordis.yml': ROWS, 'script.yml': '[]\n' })
  const { code, err } = await run(['work'], { cwd, env: { LG_URL: `postgres://me:${PASSWORD}@127.0.0.1:1/x` } })
  expect(code).toBe(1)
  expect(err).toContain('session-postgres: postgres://me@127.0.0.1:1/x cannot be reached: ')
  expect(err).not.toContain(PASSWORD)
})
