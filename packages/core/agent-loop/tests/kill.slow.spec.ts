import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CallId, SessionId } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { userMessage } from '@loopguard/testkit'
import { fileHost, temporaryDirectory } from './support/host.ts'
import { derived, faultOfLog } from './support/laws.ts'
import { story, words } from './support/story.ts'
import { bundleWorker, Worker } from './support/worker.ts'

const LONG = process.env['LOOPGUARD_LONG'] === '1'
const KILLS = LONG ? 250 : 8
const id = SessionId('a')

const NONE = {
  kills: 0,
  committed: 0,
  lost: 0,
  reported: 0,
  interrupted: 0,
  torn: 0,
  effects: 0,
  effectsTwice: 0,
  effectsNotInLog: 0,
  doubledMessages: 0,
}
let figures = { ...NONE }

describe.each([
  ['files', false],
  ['durable files', true],
])('a process that is killed while its agent works, with %s', (_what, durable) => {
  it(
    `${KILLS} kills: no committed event is lost, the log is valid, the conversation goes on`,
    { timeout: LONG ? 3_600_000 : 300_000 },
    async () => {
      figures = { ...NONE }
      before = ''
      await using directory = await temporaryDirectory()
      await using built = await temporaryDirectory()
      const program = await bundleWorker(built.path)
      // The next worker starts up while the work of the last one is looked at.
      let next = new Worker(program, directory.path, 1, durable)
      try {
        for (let kill = 1; kill <= KILLS; kill++) {
          const worker = next
          const early = kill % 5 === 0
          const reported = await worker.killAfter(
            early ? 0 : 1 + Math.floor(Math.random() * 80),
            Math.floor(Math.random() * (early ? 60 : 4)),
          )
          next = new Worker(program, directory.path, kill + 1, durable)
          await lookAt(directory.path, reported)
          countEffects(directory.path, built.path)
        }
      } finally {
        await next.kill()
      }
      expect(figures).toMatchObject({ kills: KILLS, lost: 0, effectsTwice: 0, effectsNotInLog: 0, doubledMessages: 0 })
      expect(figures.effects).toBeGreaterThan(0)
      expect(figures.interrupted).toBeGreaterThan(0)
      if (LONG) console.info(JSON.stringify(figures))
    },
  )
})

/** Every worker so far has left the ids of the calls that it ran. The next one, which is up already, has not begun. */
function countEffects(directory: string, built: string): void {
  const effects = readFileSync(join(built, 'effects'), 'utf8').split('\n').slice(0, -1)
  const events = readFileSync(join(directory, `${id}.jsonl`), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as SessionEvent)
  const logged = new Set(events.flatMap((event) => (event.type === 'tool/call' ? [event.data.callId] : [])))
  const messages = events.flatMap((event) => (event.type === 'user/message' ? [event.data.id] : []))
  figures.effects = effects.length
  figures.effectsTwice = effects.length - new Set(effects).size
  figures.effectsNotInLog = effects.filter((callId) => !logged.has(CallId(callId))).length
  figures.doubledMessages = messages.length - new Set(messages).size
}

/** What the file held before each kill; each log only ever grows. */
let before = ''

async function lookAt(directory: string, reported: readonly SessionEvent[]): Promise<void> {
  const content = await readFile(join(directory, `${id}.jsonl`), 'utf8').catch(() => '')
  const whole = content.slice(0, content.lastIndexOf('\n') + 1)
  expect(whole.startsWith(before)).toBe(true)
  const committed = whole
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as SessionEvent)
  const lost = reported.filter((event) => JSON.stringify(committed[event.seq]) !== JSON.stringify(event))
  figures.kills++
  figures.committed += committed.length - before.split('\n').length + 1
  figures.reported += reported.length
  figures.lost += lost.length
  figures.torn += whole.length < content.length ? 1 : 0
  expect(lost).toEqual([])
  expect(faultOfLog(committed, { whole: false })).toBeUndefined()

  const rows = { agents: [{ id, provider: 'scripted', model: 'scripted' }] }
  await using host = await fileHost({ directory, script: [{ text: 'still here', repeat: Infinity }], loop: rows })
  const agent = host.ctx.agentLoop.get(id)!
  const { events } = agent.session
  expect(events.slice(0, committed.length)).toEqual(committed)
  expect(faultOfLog(events)).toBeUndefined()
  if (events.length > committed.length && events.at(-1)?.type === 'turn/end') figures.interrupted++
  const pending = waiting(committed)
  expect([...agent.inbox.nextStep, ...agent.inbox.nextTurn].map(words).toSorted()).toEqual(pending.toSorted())

  agent.followup(userMessage('are you there?'))
  await agent.whenIdle()
  expect(faultOfLog(events)).toBeUndefined()
  expect(story(agent.session).at(-1)).toMatch(/^end \d+ completed$/)
  expect(agent.inbox.hasPending).toBe(false)
  const request = host.model.requests.at(-1)
  expect(request?.messages).toEqual(derived(events).slice(0, -1))
  expect(derived(events).map(words)).toEqual(expect.arrayContaining([...pending, 'are you there?']))
  await agent.dispose()
  before = await readFile(join(directory, `${id}.jsonl`), 'utf8')
  expect(before).toBe(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
}

/** The words of what was queued, did not enter and was not discarded. */
function waiting(events: readonly SessionEvent[]): string[] {
  const queued = new Map<string, string>()
  for (const { type, data } of events) {
    if (type === 'inbox/queued') queued.set(data.message.id, words(data.message))
    else if (type === 'inbox/removed') for (const message of data.ids) queued.delete(message)
    else if (type === 'user/message') queued.delete(data.id)
  }
  return [...queued.values()]
}
