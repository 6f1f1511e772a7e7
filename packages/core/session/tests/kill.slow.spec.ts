import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionEvent } from '@loopguard/session'
import { expect, it } from 'vitest'
import { faultsIn } from './conversation.ts'
import { startProgram } from './programs/run.ts'
import { storeIn, tempDir } from './support.ts'

const isLong = process.env['LOOPGUARD_LONG'] === '1'
const KILLS = isLong ? 200 : 8
const MAX_LOG_BYTES = 20_000_000

it.each([
  ['files', false],
  ['durable files', true],
])(
  `with %s a process that is killed (SIGKILL, ${KILLS} times) loses no committed event, and the log goes on`,
  { timeout: isLong ? 1_800_000 : 180_000 },
  async (_what, durable) => {
    const directory = tempDir()
    const store = await storeIn(directory)
    const figures = { kills: 0, committed: 0, interrupted: 0, lost: 0 }
    let before = { ...figures }
    let log: Buffer = Buffer.alloc(0)
    while (figures.kills < KILLS) {
      // Every other kill can fall into the opening of the session: its lock, its load, the closing of the open turn.
      const said = await runAndKill(directory, figures.kills % 2 === 0 ? 1 : 2, durable)
      figures.kills++
      const left = bytesOf(directory)
      // What earlier processes committed is still there, to the letter; so is everything that this one said.
      expect(left.subarray(0, log.length).equals(log)).toBe(true)
      const whole = left.subarray(0, left.lastIndexOf('\n') + 1)
      figures.lost += Math.max(0, said + 1 - linesIn(whole))
      if (whole.length === 0) continue
      const session = await store.load('soak')
      session.close()
      log = bytesOf(directory)
      expect(log.subarray(0, whole.length).equals(whole)).toBe(true)
      expect(linesIn(log)).toBe(session.events.length)
      expect(faultsIn(session.events)).toEqual([])
      const { interrupted, committed } = before
      figures.interrupted = interrupted + session.events.filter(isInterruption).length
      figures.committed = committed + session.events.length
      if (log.length < MAX_LOG_BYTES) continue
      // Each kill reads the whole log: a long run goes on with a new one.
      rmSync(join(directory, 'soak.jsonl'))
      log = Buffer.alloc(0)
      before = { ...figures }
    }
    if (isLong) console.info(JSON.stringify(figures))
    expect(figures).toMatchObject({ kills: KILLS, lost: 0 })
    expect(figures.committed).toBeGreaterThan(KILLS)
    expect(readdirSync(directory).filter((name) => name !== 'soak.jsonl')).toEqual([])
  },
)

/** Kills a writer at a random moment after it has said so many lines, and returns the last seq that it said. */
async function runAndKill(directory: string, lines: number, durable: boolean): Promise<number> {
  const child = startProgram('write.ts', [directory, ...(durable ? ['durable'] : [])])
  let output = ''
  const speaking = new Promise<void>((resolve) => {
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      output += piece
      if (output.split('\n', lines + 1).length > lines) resolve()
    })
  })
  const closed = once(child, 'close')
  await Promise.race([speaking, closed])
  await sleep(Math.random() * 60)
  child.kill('SIGKILL')
  const [, signal] = (await closed) as [number | null, string | null]
  expect(signal).toBe('SIGKILL')
  return Number(output.split('\n').at(-2) ?? -1)
}

function bytesOf(directory: string): Buffer {
  const file = join(directory, 'soak.jsonl')
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
}

function linesIn(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0)
}

function isInterruption(event: SessionEvent): boolean {
  return event.type === 'turn/end' && event.data.reason.kind === 'interrupted'
}
