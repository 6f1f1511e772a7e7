import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SessionId } from '@loopguard/llm'
import { expect, it, onTestFinished } from 'vitest'
import { OPTIONS, scheduleHost } from './schedule/host.ts'
import { call, longSleep, pidsOf, program, running, textOf, until } from './support.ts'

it('after a SIGKILL of the host and a resume, an old id never means a new job', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'loopguard-killed-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const sleep = longSleep()
  const child = spawn(process.execPath, [...program('killed.ts'), directory, sleep], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'close')
  // Nothing was left that could have ended it. bash has become the one command that it was given.
  await until(() => running(sleep) === 1, 'the command has outlived its host')
  for (const pid of pidsOf(sleep)) process.kill(pid, 'SIGKILL')

  await using host = await scheduleHost(directory)
  const agent = await host.ctx.agentLoop.resume(SessionId('a'), OPTIONS)
  const old = await call(host.ctx, 'job_output', { job_id: 'bash-1' }, { agent })
  expect([old.isError && old.error.info?.code, textOf(old)]).toEqual([
    'JOB_UNKNOWN',
    'Error: job "bash-1" was started before a restart: it is gone, and so is its output',
  ])
  const args = { command: 'true', description: 'x', run_in_background: true }
  expect(textOf(await call(host.ctx, 'bash', args, { agent }))).toBe('started background job bash-2')
})
