import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createUserMessage, text } from '@loopguard/llm'
import { createHarness } from '@loopguard/testkit'
import { tool } from './support/tools.ts'

const page = await readFile(new URL('../../../../docs/architecture.md', import.meta.url), 'utf8')

describe('docs/architecture.md', () => {
  it('the order of events on the page is that of a real run', async () => {
    const [, shown = ''] = /<!-- event order:.*?```text\n(.*?)```/s.exec(page) ?? []
    const seen: string[] = []
    const on = (event: string) => void seen.push(`bus  ${event}`)

    await using harness = await createHarness({
      script: [{ text: 'I will look', calls: [{ name: 'read', arguments: { path: 'notes.txt' } }] }, { text: 'It says hello.' }],
      tools: [tool('read', () => 'hello')],
    })
    const { ctx } = harness
    ctx.on('session/event', (_session, { type }) => void (type !== 'session/start' && seen.push(`log  ${type}`)))
    ctx.on('agent/status', () => on('agent/status'))
    ctx.on('agent/pre-step', (_event, next) => (on('agent/pre-step'), next()))
    ctx.on('llm/stream', (_request, next) => (on('llm/stream'), next()))
    ctx.on('tools/pre-execute', (_exec, next) => (on('tools/pre-execute'), next()))
    ctx.on('tools/execute', (_exec, next) => (on('tools/execute'), next()))
    ctx.on('tools/post-execute', async (_exec, _result, next) => {
      on('tools/post-execute')
      const reminder = createUserMessage({ content: [text('mind the time')], source: { kind: 'plugin', plugin: 'clock' } })
      return { ...(await next()), additionalContexts: [reminder] }
    })
    ctx.on('tools/result', () => on('tools/result'))
    ctx.on('agent/request-error', (_event, next) => (on('agent/request-error'), next()))
    ctx.on('agent/turn-stopping', () => on('agent/turn-stopping'))
    await harness.say(harness.agent(), 'What is in notes.txt?')

    const lines = shown.trimEnd().split('\n')
    expect(lines.map((line) => line.split(/ +/).slice(0, 2).join('  '))).toEqual(seen)
  })

  it('the table of ends has a row for each reason', async () => {
    const reasons = [...page.matchAll(/^\| `([a-z-]+)` /gm)].map(([, reason]) => reason)
    const types = await readFile(new URL('../../session/src/events.ts', import.meta.url), 'utf8')
    const [, declared = ''] = /export type TurnEndReason =\n(.*?)\n\n/s.exec(types) ?? []
    const kinds = [...declared.matchAll(/'([a-z-]+)'/g)].map(([, kind]) => kind)
    expect(new Set(reasons)).toEqual(new Set(kinds))
  })
})
