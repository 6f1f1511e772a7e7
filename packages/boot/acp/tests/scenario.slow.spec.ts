import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { editor, folder, logOf } from './editor.ts'
import { type Frame, updatesIn } from './support.ts'

const file = (name: string): string => readFileSync(new URL(`scenario/${name}`, import.meta.url), 'utf8')

/** One message a line, without what differs from run to run: ids, times, durations, the folder, the version. */
function lines(messages: readonly object[], path: string): string {
  const text = messages.map((message) => JSON.stringify(message)).join('\n')
  return `${text}\n`
    .replaceAll(path, '<folder>')
    .replaceAll(/"[0-9a-f]{8}-[0-9a-f-]{27}"/g, '"…"')
    .replaceAll(/,"(?:durationMs|firstTokenMs)":\d+/g, '')
    .replaceAll(/"version":"[^"]+"/g, '"version":"…"')
}

interface Reminder {
  readonly plugin: string
  readonly callId: string
}

const isReminder = (message: unknown): boolean => /repeat-tool-reminder/.test(JSON.stringify(message))

it('five equal calls of todo_write: a gentle reminder at 3, a detailed one at 5, in the frames and in the log, and nowhere else', async () => {
  const path = folder({ 'cordis.yml': file('cordis.yml'), 'script.yml': file('script.yml') })
  const { open, prompt, leave, exited, frames, err } = await editor(path)
  const id = await open(path)
  expect(await prompt(id, 'Plan the work.')).toEqual({ stopReason: 'end_turn' })
  leave()
  expect(await exited).toEqual({ code: 0, signal: null })
  // Where the log is, and no complaint.
  expect(err()).toBe(`log of agent "${id}": sessions/${id}.jsonl\n`)

  const log = logOf(path, id)
  await expect(lines(frames, path)).toMatchFileSnapshot('scenario.frames.golden.jsonl')
  await expect(
    lines(
      log.map(({ type, data }) => ({ type, data })),
      path,
    ),
  ).toMatchFileSnapshot('scenario.log.golden.jsonl')

  const shown = updatesIn(frames).flatMap((update) => {
    const meta = update._meta?.['loopguard'] as Reminder | undefined
    return update.sessionUpdate === 'agent_thought_chunk' && update.content.type === 'text' ? [{ meta, text: update.content.text }] : []
  })
  const by = { kind: 'reminder', plugin: 'repeat-tool-reminder' }
  expect(shown.map(({ meta }) => meta)).toEqual([
    { ...by, callId: 'call_3' },
    { ...by, callId: 'call_5' },
  ])
  expect(shown[0]?.text).toMatch(/^You are repeating the exact same tool call/)
  expect(shown[1]?.text).toContain('- consecutive_calls: 5')
  const logged = log.filter(isReminder)
  expect(logged.map(({ data }) => (data as { content: [{ text: string }] }).content[0].text)).toEqual(shown.map(({ text }) => text))
  expect(frames.filter(isReminder)).toHaveLength(2)
  // Each follows the result of its call, and nothing stands between.
  const order = updatesIn(frames).flatMap((update: Frame) =>
    update['status'] === 'completed' ? [update['toolCallId']] : update['sessionUpdate'] === 'agent_thought_chunk' ? ['reminder'] : [],
  )
  expect(order).toEqual(['call_1', 'call_2', 'call_3', 'reminder', 'call_4', 'call_5', 'reminder'])
})
