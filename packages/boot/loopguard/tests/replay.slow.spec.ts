import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, ROOT, run } from './cli.ts'

const EXAMPLES = join(ROOT, 'examples/transcripts')

describe('replaying the example', () => {
  it('gives back the conversation and names the calls after which the reminder acts', async () => {
    const before = readdirSync(EXAMPLES)
    const { code, out, err } = await run(['replay', join(EXAMPLES, 'failing-test.json')])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('asks: replay/recorded-model, tools read_file, run_tests, todo_write, grep, edit_file\n')
    expect(out).toContain('user: It counts tabs as one column. Look at the tokenizer, not at the parser.\n')
    expect(out.split('\n').slice(-4)).toEqual([
      'the reminder acted after',
      '  1. run_tests {"file":"lists.spec.ts","bail":true} [call_04] (replay, turn 1, step 4)',
      '  2. run_tests {"file":"lists.spec.ts","bail":true} [call_08] (replay, turn 1, step 8)',
      'summary: 12 calls, 2 reminders, 0 timeouts, 1 agent, 2 turns, 13 steps, tokens not recorded',
    ])
    // Nothing is left beside it.
    expect(readdirSync(EXAMPLES)).toEqual(before)
  })

  it('tries other settings of the guard', async () => {
    const { out } = await run(
      ['replay', 'failing-test.json', '--json', '--thresholds', '2,6', '--exclude', 'todo_*', '--include', 'run_*'],
      {
        cwd: EXAMPLES,
      },
    )
    const { summary } = JSON.parse(out.slice(out.lastIndexOf('\n') + 1)) as { summary: { reminded: { callId: string }[] } }
    expect(summary.reminded.map(({ callId }) => callId)).toEqual(['call_03', 'call_08'])
  })
})

describe('a transcript that was cut off', () => {
  it('ends where it ends, with one and the same id on every call', async () => {
    const call = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'poll', arguments: '{}' } }],
    }
    const round = [call, { role: 'tool', tool_call_id: 'call_1', content: 'not yet' }]
    const path = folder({
      'loop.json': JSON.stringify([{ role: 'user', content: 'go' }, ...Array.from({ length: 5 }, () => round).flat()]),
    })
    const { code, out } = await run(['replay', 'loop.json'], { cwd: path })
    expect(code).toBe(0)
    expect(out).toContain(
      '  1. poll {} [call_1] (replay, turn 1, step 3)\n  2. poll {} [call_1] (replay, turn 1, step 5)\nsummary: 5 calls, 2 reminders,',
    )
  })
})

it('standard input is read for `-`', async () => {
  const input = readFileSync(join(EXAMPLES, 'failing-test.json'), 'utf8')
  const piped = await run(['replay', '-'], { input })
  expect(piped).toEqual(await run(['replay', join(EXAMPLES, 'failing-test.json')]))
  expect(piped.code).toBe(0)
  expect(await run(['replay', '-'], { input: '{' })).toMatchObject({
    code: 1,
    err: expect.stringContaining('standard input:1:2: not JSON: ') as string,
  })
})
