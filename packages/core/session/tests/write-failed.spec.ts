import { chmodSync, closeSync, fstatSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { HarnessError } from '@loopguard/llm'
import SessionStore from '@loopguard/session'
import { captureErrors } from '@loopguard/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram } from './programs/run.ts'
import { codeOfRejection, codeThrownBy, linesOf, storeIn, storyOf, tempDir, thrownBy, write } from './support.ts'

/** The descriptor by which this process has the file open. */
function descriptorOf(file: string): number {
  const { ino, dev } = statSync(file)
  for (let fd = 3; fd < 4_096; fd++) {
    try {
      const stat = fstatSync(fd)
      if (stat.ino === ino && stat.dev === dev) return fd
    } catch {}
  }
  throw new Error(`${file} is not open`)
}

it('an event that cannot be written is not committed, and the session takes no more', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create('a')
  session.append('test/note', 'kept')
  const descriptor = descriptorOf(join(directory, 'a.jsonl'))
  closeSync(descriptor)
  const error = thrownBy(() => session.append('test/note', 'lost'))
  expect(error).toBeInstanceOf(HarnessError)
  expect([error.code, error.message]).toEqual([
    'SESSION_WRITE_FAILED',
    expect.stringContaining(`${join(directory, 'a.jsonl')} could not be written: EBADF`),
  ])
  expect((error.cause as { code?: string }).code).toBe('EBADF')
  // The system gives out the lowest number that is free: from here on the write would succeed.
  expect(openSync(join(directory, 'a.jsonl'), 'a')).toBe(descriptor)
  expect(codeThrownBy(() => session.append('test/note', 'lost too'))).toBe('SESSION_WRITE_FAILED')
  expect([storyOf(session), session.closed]).toEqual([[['test/note', 'kept']], false])
  session.close()
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
  expect(storyOf(await store.load('a'))).toEqual([['test/note', 'kept']])
})

it('a session that has told of its failure says nothing more when its file cannot be closed either', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create('a')
  closeSync(descriptorOf(join(directory, 'a.jsonl')))
  expect(codeThrownBy(() => session.append('test/note', 'lost'))).toBe('SESSION_WRITE_FAILED')
  session.close()
  expect([session.closed, store.get('a'), readdirSync(directory)]).toEqual([true, undefined, ['a.jsonl']])
})

it('a file that the system fails to close is SESSION_WRITE_FAILED, and everything is released', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create('a')
  closeSync(descriptorOf(join(directory, 'a.jsonl')))
  expect(codeThrownBy(() => session.close())).toBe('SESSION_WRITE_FAILED')
  session.close()
  expect([session.closed, store.get('a'), readdirSync(directory)]).toEqual([true, undefined, ['a.jsonl']])
})

it('unloading closes every session, also after one that fails to close, and the first failure is told', async () => {
  const directory = tempDir()
  const ctx = new Context()
  const logged = captureErrors(ctx)
  const fiber = await ctx.plugin(SessionStore, { directory })
  const sessions = ['a', 'b', 'c'].map((id) => ctx.sessions.create(id))
  for (const id of ['a', 'b']) closeSync(descriptorOf(join(directory, `${id}.jsonl`)))
  await fiber.dispose()
  expect(sessions.map(({ closed }) => closed)).toEqual([true, true, true])
  expect(readdirSync(directory).toSorted()).toEqual(['a.jsonl', 'b.jsonl', 'c.jsonl'])
  const told = logged.flatMap(({ error }) => (error instanceof HarnessError ? [[error.code, error.message]] : []))
  expect(told).toEqual([['SESSION_WRITE_FAILED', expect.stringContaining('a.jsonl could not be written')]])
  await ctx.fiber.dispose()
})

it('on a full disk the half line is cut off, the failure says so, and what was committed can be loaded', async () => {
  const directory = tempDir()
  // The shell's limit on file sizes acts as a full disk does: a part of the line is taken, then nothing.
  const report = await runProgram('fill.ts', [directory, 'a'], { fileBlocks: 8 })
  const { committed, code, cause, again, size, published } = JSON.parse(report) as Record<string, unknown>
  expect([code, cause, again]).toEqual(['SESSION_WRITE_FAILED', 'EFBIG', 'SESSION_WRITE_FAILED'])
  const lines = linesOf(directory, 'a')
  expect(lines).toHaveLength(committed as number)
  expect(published).toBe(committed)
  expect(readFileSync(join(directory, 'a.jsonl'))).toHaveLength(size as number)
  expect(readFileSync(join(directory, 'a.jsonl'), 'utf8').endsWith('\n')).toBe(true)
  const session = await (await storeIn(directory)).load('a')
  expect(session.events.map((event) => JSON.stringify(event))).toEqual(lines)
})

it('on a disk that is full from the start nothing is created, and the id stays free', async () => {
  const directory = tempDir()
  const report = await runProgram('fill.ts', [directory, 'a'], { fileBlocks: 0 })
  expect(JSON.parse(report)).toEqual({ refused: 'SESSION_WRITE_FAILED' })
  expect(readdirSync(directory)).toEqual([])
  ;(await storeIn(directory)).create('a')
})

it('a directory that is gone is SESSION_WRITE_FAILED to create and SESSION_NOT_FOUND to load', async () => {
  const directory = join(tempDir(), 'logs')
  const store = await storeIn(directory)
  rmSync(directory, { recursive: true })
  expect(codeThrownBy(() => store.create('a'))).toBe('SESSION_WRITE_FAILED')
  expect(store.list()).toEqual([])
  expect(await codeOfRejection(store.load('a'))).toBe('SESSION_NOT_FOUND')
})

it('a directory that cannot be written to is SESSION_WRITE_FAILED, and open sessions go on', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create('open')
  write(store.create('closed'), [['turn/start', { turn: 1 }]]).close()
  const thaw = makeReadOnly(directory)
  onTestFinished(thaw)
  expect(codeThrownBy(() => store.create('new'))).toBe('SESSION_WRITE_FAILED')
  expect(await codeOfRejection(store.load('closed'))).toBe('SESSION_WRITE_FAILED')
  session.append('test/note', 'still here')
  expect(linesOf(directory, 'open')).toHaveLength(2)
  thaw()
  expect(store.list()).toEqual([session])
  await store.load('closed')
})

/** Modes do not bind root, who becomes nobody for the while. */
function makeReadOnly(directory: string): () => void {
  const isRoot = process.getuid?.() === 0
  chmodSync(directory, 0o555)
  if (isRoot) process.seteuid?.(65_534)
  return () => {
    if (isRoot) process.seteuid?.(0)
    chmodSync(directory, 0o755)
  }
}
