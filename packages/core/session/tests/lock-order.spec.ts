import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { codeOf } from '@loopguard/llm'
import { codeOfRejection, hostWith, linesOf, outcomeOf, rejectionOf, storeIn, storyOf, tempDir, thrownBy, write } from './support.ts'

type Step = 'closeSync' | 'linkSync' | 'openSync' | 'rmSync' | 'truncateSync' | 'writeSync'

/** What happens just before a step of the file system, and may fail it. The file system below is the real one. */
const meddle = vi.hoisted(() => ({
  before: undefined as ((step: Step, path: unknown) => void) | undefined,
  /** Before a piece of a file is read. */
  reading: undefined as (() => void) | undefined,
  /** After a file that was read has been closed. */
  closing: undefined as (() => void) | undefined,
}))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const steps: readonly Step[] = ['closeSync', 'linkSync', 'openSync', 'rmSync', 'truncateSync', 'writeSync']
  const hooked = steps.map((step) => [
    step,
    (...args: unknown[]): unknown => {
      meddle.before?.(step, args[0])
      return (real[step] as (...given: unknown[]) => unknown)(...args)
    },
  ])
  return { ...real, ...Object.fromEntries(hooked) }
})

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const open: typeof real.open = async (...args) => {
    const handle = await real.open(...args)
    const [read, close] = [handle.read.bind(handle), handle.close.bind(handle)]
    return Object.assign(handle, {
      read: async (...given: Parameters<typeof read>) => (meddle.reading?.(), read(...given)),
      close: async () => (await close(), meddle.closing?.()),
    })
  }
  return { ...real, open }
})

afterEach(() => {
  meddle.before = meddle.reading = meddle.closing = undefined
})

/** Runs `act` before the first step of this name, and not within it again. */
function once(step: Step, act: () => void): void {
  meddle.before = (at) => {
    if (at !== step) return
    meddle.before = undefined
    act()
  }
}

const failing = (step: Step, code: string, at = ''): void => {
  meddle.before = (name, path) => {
    if (name === step && String(path).endsWith(at)) throw Object.assign(new Error(`${code}: the device says no`), { code })
  }
}

describe('between two processes', () => {
  it('a log that another has made and closed since the first look is not written over', async () => {
    const directory = tempDir()
    const [one, two] = [await storeIn(directory), await storeIn(directory)]
    once('linkSync', () => write(two.create('a'), [['test/note', 'theirs']]).close())
    expect(outcomeOf(() => one.create('a'))).toBe('SESSION_EXISTS')
    expect(readdirSync(directory)).toEqual(['a.jsonl'])
    expect(storyOf(await one.load('a'))).toEqual([['test/note', 'theirs']])
  })

  it('an empty log is removed under the lock: it is never the new log of another', async () => {
    const directory = tempDir()
    const ctx = await hostWith({ directory })
    const two = await storeIn(directory)
    ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'session/event') throw new Error('vetoed')
    })
    let outcome: unknown = 'nothing was removed'
    meddle.before = (step, path) => {
      if (step !== 'rmSync' || !String(path).endsWith('.jsonl')) return
      meddle.before = undefined
      outcome = outcomeOf(() => two.create('a'))
    }
    expect(() => ctx.sessions.create('a')).toThrow('vetoed')
    expect([outcome, readdirSync(directory)]).toEqual(['SESSION_OPEN', []])
    two.create('a')
  })

  it('a log is closed under the lock: no other opens it before', async () => {
    const directory = tempDir()
    const [one, two] = [await storeIn(directory), await storeIn(directory)]
    const session = one.create('a')
    let loading: Promise<string | undefined> | undefined
    once('closeSync', () => void (loading = codeOfRejection(two.load('a'))))
    session.close()
    expect(await loading).toBe('SESSION_OPEN')
    await two.load('a')
  })
})

it('a log that is gone by the time it is opened to be written is not made anew', async () => {
  const directory = tempDir()
  const store = await storeIn(directory)
  store.create('a').close()
  once('openSync', () => unlinkSync(join(directory, 'a.jsonl')))
  const refused = await rejectionOf(store.load('a'))
  expect([refused.code, codeOf(refused.cause)]).toEqual(['SESSION_WRITE_FAILED', 'ENOENT'])
  expect(readdirSync(directory)).toEqual([])
})

describe('a clean-up that fails', () => {
  it.each(['EBUSY', 'EACCES'])(
    'with %s, of the empty log of a refused session: the refusal is heard, the lock and the id are free',
    async (code) => {
      const directory = tempDir()
      const ctx = await hostWith({ directory })
      const veto = ctx.on('internal/dispatch', (_mode, name) => {
        if (name === 'session/event') throw new Error('vetoed')
      })
      failing('rmSync', code, '.jsonl')
      expect(() => ctx.sessions.create('a')).toThrow('vetoed')
      expect([ctx.sessions.list(), readdirSync(directory)]).toEqual([[], ['a.jsonl']])
      veto()
      write(ctx.sessions.create('a'), [['test/note', 'ours']]).close()
      expect(storyOf(await ctx.sessions.load('a'))).toEqual([['test/note', 'ours']])
    },
  )

  it('of a log whose very first line could not be written leaves that failure what it was', async () => {
    const directory = tempDir()
    const store = await storeIn(directory)
    meddle.before = (step, path) => {
      if (step === 'writeSync') throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' })
      if (step === 'rmSync' && String(path).endsWith('.jsonl')) throw Object.assign(new Error('EBUSY: busy'), { code: 'EBUSY' })
    }
    const refused = thrownBy(() => store.create('a'))
    expect([refused.code, codeOf(refused.cause)]).toEqual(['SESSION_WRITE_FAILED', 'ENOSPC'])
    expect(readdirSync(directory)).toEqual(['a.jsonl'])
    meddle.before = undefined
    store.create('a')
  })

  it('of the file of a refused session, by its closing: the refusal is heard, and all is released', async () => {
    const directory = tempDir()
    const ctx = await hostWith({ directory })
    const veto = ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'session/event') throw new Error('vetoed')
    })
    failing('closeSync', 'EIO')
    expect(() => ctx.sessions.create('a')).toThrow('vetoed')
    expect([ctx.sessions.list(), readdirSync(directory)]).toEqual([[], []])
    meddle.before = undefined
    veto()
    write(ctx.sessions.create('b'), [['turn/start', { turn: 1 }]]).close()
    const again = ctx.on('internal/dispatch', (_mode, name) => {
      if (name === 'session/event') throw new Error('vetoed again')
    })
    failing('closeSync', 'EIO')
    expect((await rejectionOf(ctx.sessions.load('b'))).message).toBe('vetoed again')
    again()
    meddle.before = undefined
    await ctx.sessions.load('b')
  })

  it('beside a lock that is placed does not keep its taker from holding it', async () => {
    const directory = tempDir()
    const [one, two] = [await storeIn(directory), await storeIn(directory)]
    failing('rmSync', 'EBUSY', '.tmp')
    const session = one.create('a')
    expect(await codeOfRejection(two.load('a'))).toBe('SESSION_OPEN')
    session.close()
    expect(existsSync(join(directory, 'a.lock'))).toBe(false)
    await two.load('a')
    expect(linesOf(directory, 'a')).toHaveLength(1)
  })

  it('of a log that could not be opened leaves that failure what it was, and releases the lock', async () => {
    const directory = tempDir()
    const store = await storeIn(directory)
    store.create('a').close()
    meddle.before = (step) => {
      if (step === 'truncateSync') throw Object.assign(new Error('EROFS: read-only'), { code: 'EROFS' })
      if (step === 'closeSync') throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
    }
    const refused = await rejectionOf(store.load('a'))
    expect([refused.code, codeOf(refused.cause)]).toEqual(['SESSION_WRITE_FAILED', 'EROFS'])
    expect(readdirSync(directory)).toEqual(['a.jsonl'])
  })

  it('of a log that could not be read to its end leaves that failure what it was, and releases the lock', async () => {
    const directory = tempDir()
    const store = await storeIn(directory)
    store.create('a').close()
    meddle.reading = () => {
      throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
    }
    meddle.closing = () => {
      throw Object.assign(new Error('EBADF: bad file'), { code: 'EBADF' })
    }
    const refused = await rejectionOf(store.load('a'))
    expect([refused.code, codeOf(refused.cause)]).toEqual(['SESSION_READ_FAILED', 'EIO'])
    expect(readdirSync(directory)).toEqual(['a.jsonl'])
    meddle.reading = meddle.closing = undefined
    await store.load('a')
  })

  it('of a log that was read hides nothing that is wrong with it, and is no reason to refuse it', async () => {
    const directory = tempDir()
    const store = await storeIn(directory)
    store.create('good').close()
    writeFileSync(join(directory, 'bad.jsonl'), 'no log\n')
    meddle.closing = () => {
      throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
    }
    expect(await codeOfRejection(store.load('bad'))).toBe('BAD_LOG')
    await store.load('good')
    expect(readFileSync(join(directory, 'bad.jsonl'), 'utf8')).toBe('no log\n')
  })
})
