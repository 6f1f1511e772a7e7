import { backendContract } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { embedded } from './pglite.ts'

const fresh = embedded()

describe('tables of Postgres hold what every backend promises', () => {
  it.each(backendContract)('$name', async ({ run }) => {
    await expect(run(async () => (await fresh()).worker())).resolves.toBeUndefined()
  })
})
