// Compares what was sent, what the logs say and what has happened.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the workers wrote down, in the order of time. A line that a kill has torn is left out. */
export function notesIn(folder) {
  const files = readdirSync(folder).filter((name) => name.startsWith('worker-'))
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  const notes = lines.flatMap((line) => {
    try {
      return [JSON.parse(line)]
    } catch {
      return []
    }
  })
  return notes.toSorted((a, b) => a.time - b.time)
}

/** The logs of all agents: row by row as they stand in the table, since a broken log is what is looked for. */
export async function logsIn(client) {
  const { rows } = await client.query('SELECT session, seq, line FROM loopguard.event ORDER BY session, seq')
  const logs = new Map()
  for (const { session, seq, line } of rows) {
    if (!logs.has(session)) logs.set(session, [])
    logs.get(session).push({ row: seq, ...JSON.parse(line) })
  }
  return logs
}

/** @param sent - ids of the messages, by agent. */
export function audit({ sent, logs, notes, waiting }) {
  const found = {
    agents: sent.size,
    events: 0,
    gaps: 0,
    missing: 0,
    doubled: 0,
    effects: 0,
    effectsTwice: 0,
    effectsNotInLog: 0,
    unanswered: 0,
    pending: waiting,
    interrupted: 0,
    outcomeUnknown: 0,
    lost: notes.filter(({ what }) => what === 'lost').length,
  }
  const effects = new Map()
  for (const { agent, call } of notes.filter(({ what }) => what === 'effect')) {
    if (!effects.has(agent)) effects.set(agent, [])
    effects.get(agent).push(call)
  }
  for (const [agent, ids] of sent) {
    const log = logs.get(agent) ?? []
    found.events += log.length
    found.gaps += log.filter((event, at) => event.seq !== at || event.row !== at).length
    const heard = log.filter(({ type }) => type === 'user/message').map(({ data }) => data.id)
    for (const id of ids) {
      const times = heard.filter((one) => one === id).length
      if (times === 0) found.missing++
      if (times > 1) found.doubled++
    }
    found.pending += pendingIn(log)
    const ends = log.filter(({ type }) => type === 'turn/end')
    found.interrupted += ends.filter(({ data }) => data.reason.kind === 'interrupted').length
    const calls = log.filter(({ type }) => type === 'tool/call').map(({ data }) => data.callId)
    const results = log.filter(({ type }) => type === 'tool/result')
    found.outcomeUnknown += results.filter(({ data }) => data.error?.code === 'TOOL_OUTCOME_UNKNOWN').length
    const answered = new Set(results.map(({ data }) => data.message.source.callId))
    found.unanswered += calls.filter((call) => !answered.has(call)).length
    const had = effects.get(agent) ?? []
    found.effects += had.length
    found.effectsTwice += had.length - new Set(had).size
    found.effectsNotInLog += had.filter((call) => !calls.includes(call)).length
  }
  return found
}

/** Messages that wait in the inbox of an agent, as its log says. */
function pendingIn(log) {
  const inbox = new Set()
  for (const { type, data } of log) {
    if (type === 'inbox/queued') inbox.add(data.message.id)
    if (type === 'user/message') inbox.delete(data.id)
    if (type === 'inbox/removed') for (const id of data.ids) inbox.delete(id)
  }
  return inbox.size
}

/** What must be 0 whatever was killed. */
export const MUST_BE_ZERO = ['gaps', 'missing', 'doubled', 'effectsTwice', 'effectsNotInLog', 'unanswered', 'pending']

/** How long after `at` each turn that was open then was closed by another worker, in milliseconds. */
export function takeoversAfter(logs, at, until = Infinity) {
  const times = [...logs.values()].flatMap((log) =>
    log.flatMap(({ type, time, data }, index) => {
      if (type !== 'turn/end' || data.reason.kind !== 'interrupted') return []
      const begun = log.slice(0, index).findLast((event) => event.type === 'turn/start')
      return begun.time <= at && time > at && time < until ? [time - at] : []
    }),
  )
  return times.toSorted((a, b) => a - b)
}
