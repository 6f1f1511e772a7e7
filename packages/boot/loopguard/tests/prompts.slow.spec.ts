import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Ended, folder, HOST, run } from './cli.ts'

const STORED = HOST.replace("'@loopguard/session'", "'@loopguard/session', config: { directory: logs }")
const AGENTS = `
- name: '@loopguard/agent-loop'
  config:
    agents:
      - { id: asked, provider: scripted, model: m, prompt: go }
      - { id: unasked, provider: scripted, model: m }
`
const ANSWERS = "- { text: 'ok', repeat: 10 }\n"

const place = (rows = ''): string => folder({ 'cordis.yml': STORED + rows + AGENTS, 'script.yml': ANSWERS })

/** What was said to which agent, in order. */
const said = ({ out }: Ended): string[] => out.match(/^(?:== \w+, turn \d+|user: .*)$/gm) ?? []
const LOGS = ['log of agent "asked": logs/asked.jsonl', 'log of agent "unasked": logs/unasked.jsonl']
const NOT_SENT = 'agent "asked" goes on with its log, and is not sent its prompt again; --prompt sends it'

describe('the prompts of the configuration', () => {
  it('go to fresh sessions; --prompt sends them again, and --prompt <text> sends the text to every configured agent', async () => {
    const cwd = place()
    const first = await run(['run'], { cwd })
    expect([first.code, said(first), first.err.split('\n')]).toEqual([0, ['== asked, turn 1', 'user: go'], LOGS])

    const second = await run(['run'], { cwd })
    expect([second.code, said(second), second.err.split('\n')]).toEqual([
      0,
      [],
      [...LOGS, NOT_SENT, 'nothing to do: no agent has a prompt that is to be sent'],
    ])

    const third = await run(['run', '--prompt'], { cwd })
    expect([third.code, said(third), third.err.split('\n')]).toEqual([0, ['== asked, turn 2', 'user: go'], LOGS])

    const fourth = await run(['run', 'cordis.yml', '--prompt', 'Go on, please'], { cwd })
    expect([fourth.code, fourth.err.split('\n')]).toEqual([0, LOGS])
    expect(said(fourth).toSorted()).toEqual(['== asked, turn 3', '== unasked, turn 1', 'user: Go on, please', 'user: Go on, please'])
  })

  it('are not sent either while a message waits that was queued before', async () => {
    const queues = `
      export const inject = ['agentLoop']
      export function apply(ctx) {
        const [agent] = ctx.agentLoop.list()
        agent.inject({ id: 'waiting', role: 'user', content: [{ type: 'text', text: 'wait' }], source: { kind: 'user' } })
      }`
    const cwd = folder({ 'cordis.yml': `${STORED}${AGENTS}- name: ./queues.mjs\n`, 'script.yml': ANSWERS, 'queues.mjs': queues })
    const { code, out, err } = await run(['run'], { cwd })
    expect([code, out.includes('== asked'), err.includes(NOT_SENT)]).toEqual([0, false, true])
    expect(readFileSync(join(cwd, 'logs/asked.jsonl'), 'utf8')).toContain('"inbox/queued"')
  })

  it('are sent although a plugin that waited for loopguard/ready was quicker', async () => {
    const quick = `
      export const inject = ['agentLoop']
      export function apply(ctx) {
        ctx.on('loopguard/ready', () => {
          ctx.agentLoop.list()[0].followup({ id: 'quick', role: 'user', content: [{ type: 'text', text: 'first' }], source: { kind: 'user' } })
        })
      }`
    const cwd = folder({ 'cordis.yml': `${STORED}${AGENTS}- name: ./quick.mjs\n`, 'script.yml': ANSWERS, 'quick.mjs': quick })
    expect(said(await run(['run'], { cwd }))).toEqual(['== asked, turn 1', 'user: first', '== asked, turn 2', 'user: go'])
  })
})

describe('where the logs are', () => {
  it('is said of agents that are made later, too, with the whole path of what is not below; of logs in memory nothing', async () => {
    const later = `
      export const inject = ['agentLoop']
      export const apply = (ctx) => { ctx.on('loopguard/ready', () => { ctx.agentLoop.create('later', { provider: 'scripted', model: 'm' }) }) }`
    const stored = folder({ 'cordis.yml': `${STORED}${AGENTS}- name: ./later.mjs\n`, 'script.yml': ANSWERS, 'later.mjs': later })
    expect((await run(['run'], { cwd: stored })).err.split('\n')).toEqual([...LOGS, 'log of agent "later": logs/later.jsonl'])
    const elsewhere = folder({})
    const there = STORED.replace('directory: logs', `directory: ${JSON.stringify(join(elsewhere, 'logs'))}`)
    const cwd = folder({ 'cordis.yml': there + AGENTS, 'script.yml': ANSWERS })
    expect((await run(['run'], { cwd })).err).toContain(`log of agent "asked": ${join(elsewhere, 'logs/asked.jsonl')}\n`)
    const memory = folder({ 'cordis.yml': HOST + AGENTS, 'script.yml': ANSWERS })
    expect((await run(['run'], { cwd: memory })).err).toBe('')
  })
})

it.each([
  [' ', "argument ' ' is invalid. Expected text that is not blank."],
  ['team.yml', "argument 'team.yml' is invalid. It was taken as the text; write: loopguard run team.yml --prompt"],
])('--prompt %j is refused', async (text, complaint) => {
  const { code, err } = await run(['run', '--prompt', text])
  expect(code).toBe(2)
  expect(err).toContain(complaint)
})
