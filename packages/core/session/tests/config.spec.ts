import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import SessionStore from '@loopguard/session'
import { expect, it, onTestFinished } from 'vitest'
import { codeOfRejection, hostWith, linesOf, rejectionOf, tempDir } from './support.ts'

const load = async (config: unknown): Promise<unknown> => new Context().plugin(SessionStore, config as { directory?: string })

it.each([
  [{ dir: 'x' }, 'session: unknown key `dir`'],
  [{ directry: 'x' }, 'did you mean `directory`?'],
  [{ directory: null }, 'session: `directory` is null'],
  [{ directory: 5 }, 'directory expected string but got 5'],
  [{ directory: '' }, 'session: `directory` must be the path of a folder, got ""'],
  [{ directory: '  ' }, 'session: `directory` must be the path of a folder, got "  "'],
  ['sessions', 'session: the configuration must be a map, got "sessions"'],
  [['x'], 'session: the configuration must be a map'],
])('refuses the configuration %j', async (config, message) => {
  expect((await rejectionOf(load(config))).message).toContain(message)
})

it.each([[undefined], [null], [{}], [{ directory: undefined }]])('takes %j as: in memory', async (config) => {
  const ctx = await hostWith(config as undefined)
  ctx.sessions.create('a').close()
  expect(await codeOfRejection(ctx.sessions.load('a'))).toBe('SESSION_NOT_FOUND')
})

it('makes the directory, with the folders above it', async () => {
  const directory = join(tempDir(), 'a', 'b')
  await hostWith({ directory })
  expect(existsSync(directory)).toBe(true)
})

it('takes a relative directory from the working directory, as it is when the store loads', async () => {
  const [before, here, elsewhere] = [process.cwd(), tempDir(), tempDir()]
  onTestFinished(() => process.chdir(before))
  process.chdir(here)
  const ctx = await hostWith({ directory: 'logs' })
  process.chdir(elsewhere)
  ctx.sessions.create('a')
  expect(linesOf(join(here, 'logs'), 'a')).toHaveLength(1)
  expect(existsSync(join(elsewhere, 'logs'))).toBe(false)
})

it('fails to load when the directory cannot be made, naming it', async () => {
  const file = join(tempDir(), 'file')
  writeFileSync(file, '')
  const error = await rejectionOf(load({ directory: join(file, 'logs') }))
  expect(error).toMatchObject({ code: 'SESSION_WRITE_FAILED', message: expect.stringContaining(join(file, 'logs')) })
  expect((await rejectionOf(load({ directory: file }))).code).toBe('SESSION_WRITE_FAILED')
})
