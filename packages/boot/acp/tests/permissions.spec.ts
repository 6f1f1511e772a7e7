import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import Subagents from '@loopguard/subagent'
import { gate } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { host, type HostOptions, told, tool, turnEnds, until } from './support.ts'

const call = (name: string, args: unknown = {}) => ({ calls: [{ name, arguments: args }] })
const answer = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } })
const ASKS = {
  name: 'careful',
  apply: (ctx: import('@deepseek-ai/cordis').Context) =>
    void ctx.on('tools/pre-execute', (exec, next) =>
      exec.name === 'delete' ? Promise.resolve({ kind: 'ask', reason: 'it deletes a file' }) : next(),
    ),
}

/** One prompt that makes the agent delete something: how that ended, what was asked, whether the tool ran, what the client was told. */
async function deleting(permission: HostOptions['permission']) {
  const asked: RequestPermissionRequest[] = []
  let ran = 0
  const made = await host({
    script: [call('delete', { path: 'a' }), { text: 'Well.' }],
    tools: [tool('delete', () => `gone ${++ran}`)],
    plugins: [ASKS],
    permission: (request, signal) => {
      asked.push(request)
      return permission!(request, signal)
    },
  })
  const id = await made.open()
  const end = await made.prompt(id, 'go')
  return { ...made, id, end, asked, ran, lines: told(made.updates()) }
}

describe('a call that somebody wants to be asked about', () => {
  it('granted: it runs. The client was told of the call before it was asked, with the reason and what it is called with', async () => {
    let before: string[] = []
    const { end, asked, ran, lines, frames, id } = await deleting(() => answer('allow'))
    const at = frames.findIndex(({ method }) => method === 'session/request_permission')
    before = told(frames.slice(0, at).flatMap(({ params }) => (params as { update?: never })?.update ?? []))
    expect(before).toEqual(['call call_1 pending: delete {"path":"a"}'])
    expect(asked).toEqual([
      {
        sessionId: id,
        toolCall: {
          toolCallId: 'call_1',
          title: 'delete {"path":"a"}',
          name: 'delete',
          kind: 'other',
          status: 'pending',
          rawInput: { path: 'a' },
          content: [{ type: 'content', content: { type: 'text', text: 'it deletes a file' } }],
        },
        options: [
          { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
          { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
        ],
      },
    ])
    expect([end, ran, lines.slice(1)]).toEqual([
      { stopReason: 'end_turn' },
      1,
      ['call call_1 in_progress', 'call call_1 completed: gone 1', 'says: Well.'],
    ])
  })

  it.each([
    ['rejected', () => answer('reject'), 'was rejected'],
    ['cancelled', () => ({ outcome: { outcome: 'cancelled' as const } }), 'was cancelled'],
    ['answered with an option that was not offered', () => answer('always'), 'is unavailable'],
    ['answered with an error', () => Promise.reject(new Error('no screen')), 'is unavailable'],
    ['answered with nonsense', () => ({ outcome: { outcome: 'perhaps' } }) as never, 'is unavailable'],
  ])('%s: that call is denied, and the turn goes on', async (_how, permission, words) => {
    const { end, ran, lines, harness } = await deleting(permission)
    expect([end, ran]).toEqual([{ stopReason: 'end_turn' }, 0])
    expect(lines.slice(-2)).toEqual([expect.stringMatching(new RegExp(`^call call_1 failed DENIED: Error: .*${words}`)), 'says: Well.'])
    expect(harness.log.length).toBe(words === 'is unavailable' ? 1 : 0)
  })

  it('a session/cancel while the client is asked ends the turn; the client is told that nobody waits for its answer', async () => {
    const asked = gate()
    const given = gate()
    const { open, prompt, cancel, agent, frames } = await host({
      script: [call('delete')],
      tools: [tool('delete', () => 'gone')],
      plugins: [ASKS],
      permission: async (_request, signal) => {
        asked.open()
        await given.wait(signal).catch(() => {})
        return { outcome: { outcome: 'cancelled' } }
      },
    })
    const id = await open()
    const done = prompt(id, 'go')
    await asked.opened
    await cancel(id)
    expect(await done).toMatchObject({ stopReason: 'cancelled' })
    expect(turnEnds(agent(id))).toEqual(['aborted'])
    expect(frames.some(({ method }) => method === '$/cancel_request')).toBe(true)
  })

  it('two at once are asked about apart, and each has its own answer', async () => {
    const { open, prompt, updates } = await host({
      script: [
        {
          calls: [
            { name: 'delete', arguments: { path: 'a' } },
            { name: 'delete', arguments: { path: 'b' } },
          ],
        },
        { text: 'Well.' },
      ],
      tools: [tool('delete', (args) => `gone ${(args as { path: string }).path}`, { isConcurrencySafe: () => true })],
      plugins: [ASKS],
      permission: ({ toolCall }) => answer((toolCall.rawInput as { path: string }).path === 'a' ? 'reject' : 'allow'),
    })
    await prompt(await open(), 'go')
    const ends = told(updates()).filter((line) => /failed|completed/.test(line))
    expect(ends).toEqual([expect.stringMatching(/^call call_1 failed DENIED/), 'call call_2 completed: gone b'])
  })

  it('of an agent that no client has opened is unavailable', async () => {
    let asked = 0
    const { harness } = await host({
      script: [call('delete'), { text: 'Well.' }],
      tools: [tool('delete', () => 'gone')],
      plugins: [ASKS],
      permission: () => (asked++, answer('allow')),
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    const results = agent.session.events.flatMap(({ type, data }) => (type === 'tool/result' ? [data.error?.code] : []))
    expect([asked, results]).toEqual([0, ['DENIED']])
  })

  it('asks whom the composition has chosen, where it has', async () => {
    let asked = 0
    const { open, prompt, updates } = await host({
      script: [call('delete'), { text: 'Well.' }],
      tools: [tool('delete', () => 'gone')],
      plugins: [ASKS, { name: 'yes', apply: (ctx) => void ctx.provide('approval', { request: async () => 'allowed-once' }) }],
      permission: () => (asked++, answer('reject')),
    })
    await prompt(await open(), 'go')
    expect([asked, told(updates()).at(-2)]).toEqual([0, 'call call_1 completed: gone'])
  })
})

it("a child's call is asked about in the session at the root, under an id of its own, and its end is told there", async () => {
  const asked: RequestPermissionRequest[] = []
  const sub = (prompt: string) => call('subagent', { description: 'tidy up', prompt })
  const { open, prompt, updates } = await host({
    script: [
      sub('outer'),
      sub('inner'),
      call('delete', { path: 'a' }),
      { text: 'Deleted.' },
      { text: 'Inner done.' },
      { text: 'All done.' },
    ],
    tools: [tool('delete', () => 'gone')],
    plugins: [Subagents, ASKS],
    permission: (request) => (asked.push(request), answer('allow')),
  })
  const id = await open()
  await prompt(id, 'go')
  const child = `${id}.1.1`
  expect(asked).toMatchObject([
    {
      sessionId: id,
      toolCall: {
        toolCallId: `${child}/call_3`,
        title: `${child}: delete {"path":"a"}`,
        rawInput: { path: 'a' },
        _meta: { loopguard: { agent: child, callId: 'call_3' } },
      },
    },
  ])
  await until(() => told(updates()).includes('says: All done.'), 'the last word')
  expect(told(updates())).toEqual([
    expect.stringContaining('call call_1 pending: subagent'),
    'call call_1 in_progress',
    `call ${child}/call_3 completed`,
    'call call_1 completed: Inner done.',
    'says: All done.',
  ])
})
