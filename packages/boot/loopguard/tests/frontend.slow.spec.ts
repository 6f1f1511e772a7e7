import { expect, it } from 'vitest'
import { folder, HOST, printed, run, start } from './cli.ts'

const SCRIPT = '- { text: first answer }\n- { text: second answer }\n'
const LOOP = `
- id: agent-loop
  name: '@loopguard/agent-loop'
  config: { agents: [{ id: worker, provider: scripted, model: m }] }
- { id: front, name: ./front.mjs }
`

/** Says something twice, the second time when the agent has been idle for a while, and then does `then`. */
const front = (ownsStdout: boolean, then: string): string => `
export const name = 'front'
export const inject = ['agentLoop']
export function apply(ctx) {
  let close, fail
  const closed = new Promise((resolve, reject) => ((close = resolve), (fail = reject)))
  ctx.provide('frontend', { closed, ownsStdout: ${ownsStdout} })
  const say = (text) => ctx.agentLoop.get('worker').followup({ id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })
  let turns = 0
  ctx.on('agent/status', ({ status }) => {
    if (status !== 'idle') return
    turns++
    console.error('idle ' + turns)
    if (turns === 1) setTimeout(say, 300, 'still there?')
    else { ${then} }
  })
  ctx.on('loopguard/ready', () => setTimeout(say, 0, 'hello'))
}
`
const composed = (ownsStdout: boolean, then: string, script = SCRIPT): string =>
  folder({ 'cordis.yml': HOST + LOOP, 'script.yml': script, 'front.mjs': front(ownsStdout, then) }, 'loopguard-front-')

it('a run with a front end goes on while agents are idle, and ends with 0 when it is closed', async () => {
  const { code, out, err } = await run(['run', 'cordis.yml'], { cwd: composed(false, 'close()') })
  expect({ code, err }).toEqual({ code: 0, err: 'idle 1\nidle 2' })
  expect(out).toContain('model: first answer')
  expect(out).toContain('model: second answer')
  expect(out).toContain('summary: 0 calls')
})

it('standard output that is owned stays untouched, with --json too', async () => {
  for (const flags of [[], ['--json']]) {
    const { code, out } = await run(['run', 'cordis.yml', ...flags], { cwd: composed(true, 'close()') })
    expect({ code, out }).toEqual({ code: 0, out: '' })
  }
})

it('a turn that failed is no failure of the run; a front end that breaks is told, and ends it', async () => {
  const failing = '- { text: first answer }\n- { finish: { kind: error, failure: { message: no, code: NO } } }\n'
  expect(await run(['run', 'cordis.yml'], { cwd: composed(true, 'close()', failing) })).toMatchObject({ code: 0 })
  const { code, err } = await run(['run', 'cordis.yml'], { cwd: composed(true, "fail(new Error('the door fell off'))") })
  expect({ code, err }).toEqual({ code: 0, err: 'idle 1\nidle 2\nfront end: the door fell off: cancelling' })
})

it('a front end that is closed while an agent works: the agent is cancelled', async () => {
  const cwd = folder(
    {
      'cordis.yml': HOST + LOOP,
      'script.yml': '- { text: first answer }\n- hang\n',
      'front.mjs': front(false, '').replace("console.error('idle", "setTimeout(close, 600); console.error('idle"),
    },
    'loopguard-front-',
  )
  const { code, out } = await run(['run', 'cordis.yml', '--json'], { cwd })
  expect(code).toBe(0)
  expect(out).toContain('"reason":{"kind":"aborted","reason":{"kind":"frontend-closed"}}')
})

it('SIGTERM ends it as any run', async () => {
  const child = start(['run', 'cordis.yml'], { cwd: composed(true, '') })
  await printed(child, 'idle 2')
  child.kill('SIGTERM')
  const { exitCode, stdout, stderr } = await child
  expect({ exitCode, stdout }).toEqual({ exitCode: 143, stdout: '' })
  expect(stderr).toContain('SIGTERM: cancelling')
})
