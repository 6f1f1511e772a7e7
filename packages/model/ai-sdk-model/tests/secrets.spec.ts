import { inspect } from 'node:util'
import type { LlmAdapter } from '@loopguard/llm'
import { answers, says, type ServerEntry, streams } from '@loopguard/testkit/model-server'
import { describe, expect, it, vi } from 'vitest'
import { BOTH, KEY, requestOf, stage, user } from './stage.ts'

const TEAM = 'team-header-value'
/** Text in which the key stands across the place where 500 characters are cut. */
const across = (cut: number): string => 'x'.repeat(cut - Math.floor(KEY.length / 2)) + KEY + ' and more'.repeat(20)

const echoes: readonly (readonly [string, ServerEntry])[] = [
  ['in an error', answers(401, { error: { message: `Incorrect API key provided: ${KEY}` } })],
  ['in an error that is text', answers(500, `key ${KEY}, header ${TEAM}`)],
  ['across the place where text is cut', answers(400, { error: { message: across(500) } })],
  ['across that place, in an error that is text', answers(500, across(500))],
  ['across the place where bodies are cut', answers(500, across(65_536))],
  ['in a request id', answers(500, 'no', { 'x-request-id': `req-${KEY}` })],
  ['across the place where a request id is cut', answers(500, 'no', { 'request-id': across(500) })],
  ['in the place of a redirect', answers(307, '', { location: `https://elsewhere/?key=${KEY}` })],
  ['in a type', answers(200, 'no', { 'content-type': `text/${KEY}` })],
  ['across the place where a type is cut', answers(200, 'no', { 'content-type': `text/${'x'.repeat(85)}${KEY}` })],
  ['in a page', answers(200, `<html>${across(490)}`, { 'content-type': 'text/html' })],
  ['in an error inside of a stream', streams([`data: {"error":{"message":"bad key ${KEY}"}}\n\n`])],
  ['in an error that is text inside of a stream', streams([`data: {"error":"bad key ${KEY}"}\n\n`])],
  ['in broken JSON', streams([`data: {"choices": ${KEY}\n\n`])],
  ['in an event of no known shape', streams([`data: {"choices": "${KEY}", "type": "message_start", "message": "${KEY}"}\n\n`])],
  ['in a reason', says({ text: 'x', finish: { raw: `because_${KEY}` } })],
]

describe.each(BOTH)('%s: the key', (kind) => {
  it.each(echoes)('is in no failure, log, message or stack when the server echoes it %s', async (_where, entry) => {
    const errors: unknown[] = []
    const { harness, ctx, server } = await stage({ kind, entries: [entry], config: { headers: { 'x-team': TEAM } } })
    // What the adapter itself throws, before it is a chunk.
    const { adapters } = ctx.llm as unknown as { adapters: ReadonlyMap<string, LlmAdapter> }
    const adapter = adapters.get('served') as LlmAdapter
    await (async () => {
      for await (const _chunk of adapter.stream(requestOf({ messages: [user('a conversation that is nobody’s business')] })));
    })().catch((error: unknown) => errors.push(error))
    const agent = harness.agent({ provider: 'served' })
    await harness.say(agent, 'hi')
    expect(server.requests.length).toBeGreaterThan(1)
    expect(errors).toHaveLength(1)
    const [error] = errors as [Error]
    expect(error.cause).toBeUndefined()
    const shown = [
      inspect(error, { depth: 9, showHidden: true }),
      error.stack,
      JSON.stringify(agent.session.events),
      inspect(harness.log, { depth: 9 }),
    ].join()
    for (const secret of [KEY, KEY.slice(0, 14), KEY.slice(-14), TEAM]) expect(shown).not.toContain(secret)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('nobody’s business')
    expect(agent.session.events.some(({ type }) => type === 'request/failed')).toBe(true)
  })

  it('is in no failure when it cannot be sent', async () => {
    const { ask } = await stage({ kind, entries: [] })
    vi.stubEnv('SERVED_KEY', `${KEY}\u0000`)
    expect(JSON.stringify((await ask()).failure)).not.toContain(KEY)
  })
})

it('secrets are cut out as they stand in a URL and in JSON too', async () => {
  const odd = 'a"b/c+d\\e=='
  const { ask } = await stage({ entries: [answers(500, `${encodeURIComponent(odd)} ${JSON.stringify(odd)} ${odd}`)] })
  vi.stubEnv('SERVED_KEY', odd)
  expect((await ask()).failure.message).toBe('provider "served" answered 500: *** "***" ***')
})
