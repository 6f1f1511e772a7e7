import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** For the long form: `LOOPGUARD_LOAD_SECONDS=60`. */
const seconds = Number(process.env['LOOPGUARD_LOAD_SECONDS'] ?? 4)

interface Report {
  readonly turns: number
  readonly turnsAtHalf: number
  readonly heapAtHalf: number
  readonly heapAtEnd: number
  readonly ends: Readonly<Record<string, number>>
}

it(
  '200 agents on one slow server leave no listener on any signal, no socket, no heap and no warning',
  { timeout: seconds * 1000 + 120_000 },
  async () => {
    const sources = process.env['LOOPGUARD_TEST_MODE'] === 'lib' ? [] : ['--conditions=@loopguard/source']
    const program = fileURLToPath(new URL('programs/load.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...sources, '--import', 'tsx', program, String(seconds)])
    const { turns, turnsAtHalf, heapAtHalf, heapAtEnd, ends, ...left } = JSON.parse(stdout) as Report
    expect(left).toEqual({ listeners: 0, sockets: 0, warnings: [] })
    expect(turns).toBeGreaterThanOrEqual(400)
    // Every way to end has come, so that none of them leaves anything.
    expect(Object.keys(ends).toSorted()).toEqual(['aborted', 'completed', 'error'])
    // 16 bytes for each turn, and what the heap of a process that is not warm is uneven by: the long form is the strict one.
    expect(heapAtEnd - heapAtHalf).toBeLessThan(6_000_000 + (turns - turnsAtHalf) * 16)
  },
)
