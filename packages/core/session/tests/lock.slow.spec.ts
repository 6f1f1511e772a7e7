import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startProgram } from './programs/run.ts'
import { codeOfRejection, codeThrownBy, outcomeOf, rejectionOf, storeIn, storyOf, tempDir } from './support.ts'

interface Process {
  readonly child: ChildProcess
  /** Sends a line and returns the answer. */
  ask(line: string): Promise<string>
  kill(): Promise<void>
}

/** A process of its own with a store on `directory`. */
async function otherProcess(directory: string): Promise<Process> {
  const child = startProgram('hold.ts', [directory])
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await closed
  })
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const answer = async (): Promise<string> => String((await lines.next()).value)
  expect(await answer()).toBe('ready')
  return {
    child,
    ask(line) {
      child.stdin?.write(`${line}\n`)
      return answer()
    },
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

const hasProc = existsSync('/proc/self/stat')

/** The lock of a process that was killed while it held the session `a`. */
async function deadLock(): Promise<string> {
  const directory = tempDir()
  const other = await otherProcess(directory)
  expect(await other.ask('create a')).toBe('done')
  await other.kill()
  return readFileSync(join(directory, 'a.lock'), 'utf8')
}

it('a session that a live process holds is SESSION_OPEN, with its pid; killed, it holds nothing any more', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const other = await otherProcess(directory)
  expect(await other.ask('create a')).toBe('done')
  expect(await rejectionOf(store.load('a'))).toMatchObject({
    code: 'SESSION_OPEN',
    message: `session "a" is open in process ${other.child.pid} (${join(directory, 'a.lock')})`,
  })
  expect(codeThrownBy(() => store.create('a'))).toBe('SESSION_EXISTS')
  await other.kill()
  expect(existsSync(join(directory, 'a.lock'))).toBe(true)
  const session = await store.load('a')
  session.append('test/note', 'mine now')
  session.close()
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
})

it('a session that a live process has closed can be loaded, and then it is open to that process', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const other = await otherProcess(directory)
  expect(await other.ask('create a')).toBe('done')
  expect(await other.ask('close')).toBe('done')
  const session = await store.load('a')
  expect(await other.ask('load a')).toBe('SESSION_OPEN')
  session.close()
  expect(await other.ask('load a')).toBe('done')
  expect(await codeOfRejection(store.load('a'))).toBe('SESSION_OPEN')
})

it('of several processes that take over a dead lock at once, one gets the session', { timeout: 120_000 }, async () => {
  const directory = tempDir()
  const dead = await deadLock()
  const others = await Promise.all(Array.from({ length: 4 }, () => otherProcess(directory)))
  for (let round = 0; round < 25; round++) {
    const id = `s${round}`
    writeFileSync(join(directory, `${id}.lock`), dead)
    const at = Date.now() + 20
    const answers = await Promise.all(others.map((other) => other.ask(`create ${id} ${at}`)))
    const losers = answers.filter((answer) => answer !== 'done')
    expect([round, answers.length - losers.length]).toEqual([round, 1])
    expect(losers.filter((code) => code !== 'SESSION_OPEN' && code !== 'SESSION_EXISTS')).toEqual([])
    expect(await Promise.all(others.map((other) => other.ask('close')))).toEqual(['done', 'done', 'done', 'done'])
    expect(readdirSync(directory).filter((file) => !file.endsWith('.jsonl'))).toEqual([])
  }
})

it('a process that was killed while it took over a dead lock leaves nothing that cannot be taken over', async () => {
  const directory = tempDir()
  const dead = await deadLock()
  const { token } = JSON.parse(dead) as { token: string }
  writeFileSync(join(directory, 'a.lock'), dead)
  writeFileSync(join(directory, `a.lock.${token}`), dead.replace(token, '01234567'))
  const session = (await storeIn(directory)).create('a')
  expect(readdirSync(directory).toSorted()).toEqual(['a.jsonl', 'a.lock'])
  session.close()
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
})

it('what a process left that was killed while it made its lock goes with the next load; what a live one makes stays', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  store.create('a').close()
  const { pid } = JSON.parse(await deadLock()) as { pid: number }
  const live = `a.lock.${process.pid}.01234567.tmp`
  for (const name of [`a.lock.${pid}.89abcdef.tmp`, live, `ab.lock.${pid}.89abcdef.tmp`]) writeFileSync(join(directory, name), '')
  const session = await store.load('a')
  session.close()
  expect(readdirSync(directory).toSorted()).toEqual(['a.jsonl', live, `ab.lock.${pid}.89abcdef.tmp`])
})

it('a process id that was given to another process since does not hold the lock', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const other = await otherProcess(directory)
  const lock = (start: string): string => JSON.stringify({ pid: other.child.pid, start, token: '89abcdef' })
  writeFileSync(join(directory, 'a.lock'), lock('another boot 1'))
  // Without /proc nobody can tell, and the safe answer is that it is held.
  const code = hasProc ? undefined : 'SESSION_OPEN'
  expect(outcomeOf(() => store.create('a'))).toBe(code)
})

it('the lock of a dead process whose id another process has since is taken over: it tells when its own process started', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const dead = JSON.parse(await deadLock()) as { pid: number; start?: string }
  writeFileSync(join(directory, 'a.lock'), JSON.stringify({ ...dead, pid: process.pid }))
  expect(outcomeOf(() => store.create('a'))).toBe(hasProc ? undefined : 'SESSION_OPEN')
})

it('a process that has ended and was not waited for holds nothing', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  // The shell becomes `sleep`, which never waits for the child that the shell started.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void parent.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string]
  writeFileSync(join(directory, 'a.lock'), JSON.stringify({ pid: Number(line), token: '89abcdef' }))
  let code = outcomeOf(() => store.create('a'))
  expect(code).toBe('SESSION_OPEN')
  for (let look = 0; code !== undefined && look < 100; look++) {
    await sleep(20)
    code = outcomeOf(() => store.create('a'))
  }
  expect(code).toBe(hasProc ? undefined : 'SESSION_OPEN')
})

it.each([
  ['nothing', ''],
  ['text', 'a lock'],
  ['null', 'null'],
  ['a process id of a group', '{"pid":0,"token":"89abcdef"}'],
  ['a negative process id', '{"pid":-1,"token":"89abcdef"}'],
  ['a token that is a path', '{"pid":1,"token":"../x"}'],
])('a lock that holds %s counts as held for a moment, then as left behind', async (_what, content) => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const lock = join(directory, 'a.lock')
  writeFileSync(lock, content)
  expect(codeThrownBy(() => store.create('a'))).toBe('SESSION_OPEN')
  expect(readFileSync(lock, 'utf8')).toBe(content)
  const minuteAgo = Date.now() / 1_000 - 60
  utimesSync(lock, minuteAgo, minuteAgo)
  store.create('a').close()
  expect(readdirSync(directory)).toEqual(['a.jsonl'])
})

it('closing does not remove a lock that somebody else has taken since', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  const session = store.create('a')
  const lock = join(directory, 'a.lock')
  unlinkSync(lock)
  const theirs = JSON.stringify({ pid: process.pid, token: '89abcdef' })
  writeFileSync(lock, theirs)
  session.close()
  expect(readFileSync(lock, 'utf8')).toBe(theirs)
  unlinkSync(lock)
  expect(storyOf(await store.load('a'))).toEqual([])
})
