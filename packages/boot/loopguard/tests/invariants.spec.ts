import { beforeAll, describe, expect, it } from 'vitest'
import { AGENT, type Ended, folder, HOST, run } from './cli.ts'

const REGISTRY = `
- name: '@loopguard/invariants'
  config: { package_allowlist: ['^@loopguard/', 'no-such-package'], package_blocklist: ['^@acme/'] }
- { name: '@loopguard/agent-loop/invariant' }
- { name: ./breaks.mjs }
`

const BREAKS = `
  export const inject = ['agentLoop']
  export function apply(ctx) {
    const { agentLoop } = ctx
    ctx.on('session/event', ({ id }, { type }) => {
      if (type === 'turn/start') ctx.emit('agent/status', { agent: agentLoop.get(id), status: 'running' })
    })
  }`

describe('a composition with invariants', () => {
  let ended: Ended

  beforeAll(async () => {
    const path = folder({ 'cordis.yml': `${HOST}${REGISTRY}${AGENT}`, 'script.yml': '- text: done', 'breaks.mjs': BREAKS })
    ended = await run(['run'], { cwd: path })
  })

  it('says which entries of its lists match nothing, and that changes no exit code', () => {
    expect(ended.err.split('\n').filter((line) => line.startsWith('invariants: '))).toEqual([
      'invariants: package_allowlist: "no-such-package" matches no package that has registered its checks',
      'invariants: package_blocklist: "^@acme/" matches no package that has registered its checks',
    ])
    expect(ended.code).toBe(0)
  })

  it('says so when a contract is broken', () => {
    expect(ended.err).toContain('invariant violated by "@loopguard/agent-loop": agent "worker": its status was running and became running')
  })
})
