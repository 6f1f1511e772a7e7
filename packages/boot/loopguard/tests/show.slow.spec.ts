import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { AGENT, folder, HOST, run } from './cli.ts'

const LOOP = '- { calls: [{ name: look, arguments: {} }], repeat: 3 }\n- text: done\n'
const STORED = HOST.replace("'@loopguard/session'", "'@loopguard/session', config: { directory: logs }")

it('a stored session is shown as its run was, with the calls that reminders followed, from any turn', async () => {
  const place = folder({ 'cordis.yml': STORED + AGENT, 'script.yml': LOOP.repeat(2) })
  const runs = [await run(['run'], { cwd: place }), await run(['run', '--prompt'], { cwd: place })]
  const [first, second] = runs.map(({ out }) => out.slice(0, out.indexOf('the reminder acted after')))
  expect(first).toContain('REMINDER after look [')
  const log = join(place, 'logs/worker.jsonl')
  const before = readFileSync(log)
  expect(await run(['show', log], { cwd: place })).toEqual({ code: 0, out: `${first}${second}`.trimEnd(), err: '' })
  expect((await run(['show', log, '--from', '2'], { cwd: place })).out).toBe(second?.trimEnd())
  expect(await run(['show', log, '--from', '3'], { cwd: place })).toEqual({
    code: 1,
    out: '',
    err: `loopguard: ${log} has 2 turns: there is nothing to show from turn 3 on`,
  })
  appendFileSync(log, '{"seq":')
  expect((await run(['show', log], { cwd: place })).code).toBe(0)
  appendFileSync(log, '\n')
  expect((await run(['show', log], { cwd: place })).err).toMatch(
    /^loopguard: .*worker\.jsonl:\d+: .*; `loopguard repair` makes a log of what can be read$/,
  )
  expect(readFileSync(log).subarray(0, before.length).equals(before)).toBe(true)
})

it('a turn that failed counts before what --fail-on names', async () => {
  const place = folder({ 'cordis.yml': HOST + AGENT, 'script.yml': LOOP.replace('- text: done\n', '') })
  const { code, out } = await run(['run', '--fail-on', 'reminder'], { cwd: place })
  expect(out).toContain('3 calls, 1 reminder, ')
  expect(code).toBe(3)
})

it.each(['0', 'two', '1.5'])('--from %s is refused', async (from) => {
  const { code, err } = await run(['show', 'x.jsonl', '--from', from])
  expect(code).toBe(2)
  expect(err).toContain('Expected the number of a turn, 1 or more.')
})
