import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { addressOf, type AddressConfig } from '../src/address.ts'
import { Config } from '../src/config.ts'
import { databaseFault, isOutage } from '../src/faults.ts'

function refusalOf(config: AddressConfig, env: NodeJS.ProcessEnv = {}): unknown {
  try {
    return addressOf(config, env)
  } catch (error) {
    return error
  }
}

describe('the address of a database', () => {
  it.each([
    ['postgres://me@host:5433/shop', 'postgres://me@host:5433/shop'],
    ['postgresql://host/shop?sslmode=require&application_name=secret', 'postgresql://host/shop'],
    ['postgres://me@/shop?host=%2Frun%2Fpg&port=5433', 'postgres://me@/run/pg/shop'],
  ])('%s is shown as %s', (url, shown) => {
    expect(addressOf({ url })).toEqual({ connectionString: url, shown })
  })

  it('is shown without the password that a variable holds', () => {
    const url = 'postgres://me:s3cret@host/shop?password=s3cret'
    expect(addressOf({ urlEnv: 'DB' }, { DB: url })).toEqual({ connectionString: url, shown: 'postgres://me@host/shop' })
  })

  const bad = (message: string): object => ({ code: 'BAD_DATABASE', message: `session-postgres: ${message}` })

  it.each([
    [{}, bad('give `url` or `urlEnv`, one of them')],
    [{ url: 'postgres://h/d', urlEnv: 'DB' }, bad('give `url` or `urlEnv`, not both')],
    [{ urlEnv: 'NONE' }, bad('the environment variable NONE (`urlEnv`) is empty')],
    [{ url: 'mysql://h/d' }, bad('`url` must be a URL such as postgres://user@host:5432/database')],
  ])('%j is refused', (config, error) => {
    expect(refusalOf(config)).toMatchObject(error)
  })

  it.each<[AddressConfig, NodeJS.ProcessEnv]>([
    [{ url: 'postgres://me:s3cret@host/d' }, {}],
    [{ url: 'postgres://me@host/d?password=s3cret' }, {}],
    [{ url: 'postgres://me:s3cret@host:port/d' }, {}],
    [{ url: 's3cret' }, {}],
    [{ urlEnv: 'DB' }, { DB: 'postgres://me:s3cret@host:port/d' }],
    [{ urlEnv: 'DB' }, { DB: 'mysql://me:s3cret@host/d' }],
  ])('%j with %j is refused, and nothing of it tells the password', (config, env) => {
    const refusal = refusalOf(config, env)
    expect(refusal).toMatchObject({ code: 'BAD_DATABASE' })
    expect(inspect(refusal, { depth: 10, showHidden: true })).not.toContain('s3cret')
  })
})

describe('what a database says', () => {
  const faultOf = (fields: object, message = 'why'): { readonly code?: string } =>
    databaseFault(Object.assign(new Error(message), fields), 'postgres://h/d') as { readonly code?: string }

  it.each([
    [{ code: 'ECONNREFUSED' }, 'why'],
    [{ code: '57P01' }, 'why'],
    [{ code: '57P03' }, 'why'],
    [{ code: '53300' }, 'why'],
    [{ code: '08006' }, 'why'],
    [{}, 'Connection terminated unexpectedly'],
    [{}, 'Query read timeout'],
    [{}, 'timeout exceeded when trying to connect'],
  ])('%j %s is an outage', (fields, message) => {
    expect(isOutage(faultOf(fields, message))).toBe(true)
  })

  it.each([[{ code: '53100' }], [{ code: '23505' }], [{ code: 'ERR_INVALID_ARG_TYPE' }], [{}], [{ code: '28P01' }]])(
    '%j is none',
    (fields) => {
      expect(isOutage(faultOf(fields))).toBe(false)
    },
  )
})

describe('the config', () => {
  it.each([
    [{ url: 'postgres://h/d', lease: 1 }, 'session-postgres: unknown key `lease`, did you mean `leaseMs`?'],
    [{ url: 'postgres://h/d', leaseMs: 10 }, '$.leaseMs expected number >= 500 but got 10'],
    [{ url: 'postgres://h/d', lanes: 0 }, '$.lanes expected number >= 1 but got 0'],
  ])('%j is refused', async (config, message) => {
    const { issues } = (await Config['~standard'].validate(config)) as { readonly issues?: readonly { readonly message: string }[] }
    expect(issues?.map((issue) => issue.message)).toEqual([message])
  })
})
