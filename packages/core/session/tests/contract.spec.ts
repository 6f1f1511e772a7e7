import { LogDirectory } from '@loopguard/session'
import { backendContract } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { tempDir } from './support.ts'

describe.each([
  ['files', false],
  ['durable files', true],
])('%s hold what every backend promises', (_what, durable) => {
  it.each(backendContract)('$name', async ({ run }) => {
    await expect(run(() => new LogDirectory(tempDir(), { durable }))).resolves.toBeUndefined()
  })
})

describe('the suite finds a backend that', () => {
  const failing = async (broken: (real: LogDirectory) => LogDirectory): Promise<string[]> => {
    const outcomes = await Promise.all(
      backendContract.map(async ({ name, run }) => {
        try {
          await run(() => broken(new LogDirectory(tempDir())))
          return []
        } catch {
          return [name]
        }
      }),
    )
    return outcomes.flat()
  }

  it.each<[string, (real: LogDirectory) => LogDirectory]>([
    ['forgets events', (real) => override(real, { load: async (id) => ({ ...(await real.load(id)), events: [] }) })],
    ['lists nothing', (real) => override(real, { stored: () => Promise.resolve([]) })],
    ['finds what is not there', (real) => override(real, { read: () => Promise.resolve([]) })],
    ['never gives a log back', (real) => override(real, { create: (id) => Object.assign(real.create(id), { close() {} }) })],
  ])('%s', async (_what, broken) => {
    expect((await failing(broken)).length).toBeGreaterThan(0)
  })
})

function override(real: LogDirectory, members: Partial<LogDirectory>): LogDirectory {
  return Object.assign(Object.create(real) as LogDirectory, members)
}
