import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AGENT, folder, HOST, printed, ROOT, run, start } from './cli.ts'

const WORK = `
- { id: shell, name: '@loopguard/shell', config: { graceMs: 200 } }
- { id: jobs, name: '@loopguard/jobs' }
- { id: job-tools, name: '@loopguard/jobs/tools' }
- { id: bash, name: '@loopguard/shell/bash' }
`

/** A composition whose agent starts this in the background, and then answers; and answers again when it is told of the end. */
function background(command: string): string {
  const args = JSON.stringify({ command, description: 'a long job', run_in_background: true })
  const script = `- calls: [{ name: bash, arguments: ${args} }]\n- text: started\n- text: so it has ended\n`
  return folder({ 'cordis.yml': `${HOST}${WORK}${AGENT}`, 'script.yml': script })
}

describe('a job that still runs when all agents are idle', () => {
  it('is ended and named, and the run ends', async () => {
    const { code, out, err } = await run(['run'], { cwd: background('echo $$; sleep 60') })
    expect([code, err]).toEqual([0, 'ending job bash-1 of agent "worker", which still runs: a long job'])
    expect(out).toContain('started background job bash-1')
    expect(out).not.toContain('so it has ended')
  })

  it('is waited for with --wait-for-jobs, and so is what its agent does about its end', async () => {
    const { code, out, err } = await run(['run', '--wait-for-jobs'], { cwd: background('sleep 0.5') })
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /Background job bash-1 \(bash: a long job\) has ended with the status completed, exit code: 0[^]*model: so it has ended/,
    )
    expect(out).toContain('2 turns, 3 steps')
  })

  it('does not hold up a signal: it is named, ended, and the exit code is that of the signal', async () => {
    const child = start(['run', '--wait-for-jobs'], { cwd: background('sleep 60') })
    await printed(child, '== turn 1 ended')
    child.kill('SIGTERM')
    const { exitCode, stderr } = await child
    expect({ exitCode, stderr }).toEqual({
      exitCode: 143,
      stderr: 'SIGTERM: cancelling; a second one ends at once\nending job bash-1 of agent "worker", which still runs: a long job',
    })
  })

  it('is a child agent: that is waited for always, until its parent has been told', async () => {
    const child = `
      export const inject = ['jobs']
      export function apply(ctx) {
        ctx.on('session/event', (session, { type }) => {
          if (type !== 'tool/call') return
          const done = new Promise((resolve) => setTimeout(resolve, 500, { status: 'completed', output: 'found' }))
          ctx.jobs.start({ kind: 'subagent', label: 'a child', owner: ctx.get('agentLoop').get(session.id), run: () => ({ cancel() {}, done }) })
        })
      }`
    const cwd = folder({
      'cordis.yml': `${HOST}${WORK}- { id: child, name: ./child.mjs }\n${AGENT}`,
      'script.yml': '- calls: [{ name: job_list, arguments: {} }]\n- text: started\n- text: so it has ended\n',
      'child.mjs': child,
    })
    const { code, out, err } = await run(['run'], { cwd })
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('model: so it has ended')
  })
})

describe('a child agent in the background', () => {
  it('that a signal ends does not wake its parent: no request follows a signal', async () => {
    const call = `{ name: subagent, arguments: { description: a child, prompt: wait, run_in_background: true } }`
    const cwd = folder({
      'cordis.yml': `${HOST}${WORK}- { id: child-model, name: '@loopguard/testkit/scripted-model', config: { provider: child, script: child.yml } }
- { id: subagent, name: '@loopguard/subagent', config: { provider: child } }\n${AGENT}`,
      'script.yml': `- calls: [${call}]\n- text: started\n- text: so it has ended\n`,
      'child.yml': '- calls: [{ name: bash, arguments: { description: wait, command: sleep 60 } }]\n- text: found\n',
    })
    const child = start(['run'], { cwd })
    await printed(child, 'call: bash')
    child.kill('SIGINT')
    const { exitCode, stdout, stderr } = await child
    expect([exitCode, stderr]).toEqual([130, 'SIGINT: cancelling; a second one ends at once'])
    expect(stdout).toContain('== turn 1 ended: aborted (signal)')
    expect(stdout).not.toContain('so it has ended')
  })
})

describe('examples/background-build', () => {
  it('starts a build, works on, is told of its end, reads what it printed, and stops', async () => {
    const { code, out, err } = await run(['run', '--wait-for-jobs', join(ROOT, 'examples/background-build/cordis.yml')])
    expect([code, err]).toEqual([0, ''])
    const pieces = [
      'started background job bash-1',
      'model: The README has 42 lines.',
      '== turn 1 ended: completed',
      'Background job bash-1 (bash: build the project) has ended with the status completed, exit code: 0; job_output reads what it printed.',
      'compiling parser\ncompiling planner\ncompiling printer\nbuilt 3 parts\n[status: completed, exit code: 0]',
      'model: The build has ended well, with 3 parts.',
      '== turn 2 ended: completed',
    ]
    let at = 0
    expect(pieces.filter((piece) => (at = out.indexOf(piece, at)) < 0)).toEqual([])
  })
})

describe('a command in the foreground', () => {
  /** What runs on this machine under that name; a zombie has no command line. */
  const running = (command: string): number =>
    readdirSync('/proc').filter((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === command
      } catch {
        return false
      }
    }).length

  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  const foreground = (command: string): string => {
    const args = JSON.stringify({ command, description: 'x' })
    return folder({ 'cordis.yml': `${HOST}${WORK}${AGENT}`, 'script.yml': `- calls: [{ name: bash, arguments: ${args} }]\n` })
  }

  it('is ended by SIGTERM to the run, its whole group, and that is waited for', async () => {
    const sleep = `sleep 90.${process.pid}1`
    const child = start(['run'], { cwd: foreground(`${sleep} & ${sleep}`) })
    await until(() => running(sleep) === 2)
    child.kill('SIGTERM')
    const { exitCode, stdout } = await child
    expect([exitCode, running(sleep)]).toEqual([143, 0])
    expect(stdout).toContain('Error: tool call aborted')
  })

  it('that ignores it is killed by the second signal, before the process is gone', async () => {
    const sleep = `sleep 90.${process.pid}2`
    const cwd = foreground(`trap '' TERM; ${sleep} & ${sleep}`)
    writeFileSync(join(cwd, 'cordis.yml'), readFileSync(join(cwd, 'cordis.yml'), 'utf8').replace('graceMs: 200', 'graceMs: 80000'))
    const child = start(['run'], { cwd })
    await until(() => running(sleep) === 2)
    child.kill('SIGINT')
    await printed(child, 'cancelling')
    child.kill('SIGTERM')
    const { exitCode } = await child
    // They were killed; the system may take a moment to clear them away.
    await until(() => running(sleep) === 0)
    expect(exitCode).toBe(143)
  })
})
