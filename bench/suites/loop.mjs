// Steps of one turn, one tool call each: speed, how the time per step grows, and heap per step.
import { historyOf } from '@loopguard/llm'
import * as ours from '../hosts/ours.mjs'
import * as published from '../hosts/published.mjs'
import { bytes, full, heap, report, times, us } from '../measure.mjs'

const SIZES = [100, 1_000, 3_000, 10_000]
const BUCKET = 100
/** The published harness may not get through the most steps: it is stopped then, and what it did until then counts. */
const LIMIT_MS = 12 * 60_000

/** What an adapter does with the history of each request. */
const READS = {
  nothing: () => () => {},
  history: () => (request) => historyOf(request).length,
  walk: () => (request) => walk(historyOf(request)),
  /** With an array of its own, so that nothing is handed over: what walking costs by itself. */
  walkOwn: () => {
    const own = []
    return (request) => {
      const history = historyOf(request)
      while (own.length < history.length) own.push(history.at(own.length))
      return walk(own)
    }
  },
  array: () => (request) => request.messages.length,
}

function walk(messages) {
  let characters = 0
  for (const { role } of messages) characters += role.length
  return characters
}

/** A model that makes a call, each with other arguments, until it has made `steps` or the time is up. */
function script(steps, read) {
  const until = performance.now() + LIMIT_MS
  let step = 0
  const marks = []
  const readHistory = READS[read]()
  const chunksOf = (request) => {
    readHistory(request)
    if (step % BUCKET === 0) marks.push(performance.now())
    if (step >= steps || performance.now() > until) {
      const block = { type: 'text', text: 'done' }
      return [
        { type: 'block-start', index: 0, blockType: 'text' },
        { type: 'text-delta', index: 0, text: 'done' },
        { type: 'block-end', index: 0, block },
        { type: 'finish', reason: { kind: 'stop' } },
      ]
    }
    const id = `call-${++step}`
    const args = `{"n":${step}}`
    return [
      { type: 'block-start', index: 0, blockType: 'tool-call' },
      { type: 'tool-call-delta', index: 0, id, name: 'echo', argumentsDelta: args },
      { type: 'block-end', index: 0, block: { type: 'tool-call', id, name: 'echo', arguments: args } },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 5 } },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ]
  }
  return { chunksOf, marks, made: () => step }
}

/** Weighed or timed, not both: a collection that is asked for drops compiled code, which the first thousand steps then pay for. */
async function run({ mount }, steps, { read = 'nothing', weigh = false } = {}) {
  const { chunksOf, marks, made } = script(steps, read)
  const host = await mount({ timeout: true, remind: true, chunksOf })
  const before = weigh ? await heap() : 0
  const [startedAt, usage] = [performance.now(), process.cpuUsage()]
  await host.say('go')
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(usage)
  const heapPerStep = weigh ? ((await heap()) - before) / made() : undefined
  await host.ctx.fiber.dispose()
  const perStep = marks.slice(1).map((mark, index) => ((mark - marks[index]) * 1e6) / BUCKET)
  return { ns: (ms * 1e6) / made(), cpuNs: ((user + system) * 1e3) / made(), perStep, heapPerStep, made: made() }
}

/** So that what is measured first is not what pays for the compiler. */
async function warm() {
  await run(ours, 3_000)
  await run(published, 300)
}

// All that is weighed first: what the engine has compiled by then would go within a weighing, and count.
await warm()
const weights = {}
for (const steps of SIZES) {
  const heapOf = async (host) => (await run(host, steps, { weigh: true })).heapPerStep
  weights[steps] = { ours: await heapOf(ours), published: steps < 10_000 ? await heapOf(published) : undefined }
}
await warm()

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
const rate = (ns) => `${Math.round(1e9 / ns).toLocaleString('en')} steps/s (${us(ns)} each)`
/** Who was stopped early would have been slower yet. */
const besides = (theirs, mine, steps) => {
  const [stopped, above] = theirs.made < steps ? [` (stopped at ${theirs.made.toLocaleString('en')})`, '> '] : ['', '']
  return { beside: rate(theirs.ns) + stopped, ratio: above + times(theirs.ns, mine.ns) }
}
const rows = []
const series = {}
for (const steps of SIZES) {
  const mine = await run(ours, steps)
  const theirs = steps < 10_000 || full ? await run(published, steps) : undefined
  const weight = weights[steps]
  series[steps] = { ours: mine.perStep, published: theirs?.perStep }
  rows.push({
    name: `${steps.toLocaleString('en')} steps`,
    value: rate(mine.ns),
    ...(theirs && besides(theirs, mine, steps)),
  })
  rows.push({
    name: `${steps.toLocaleString('en')} steps, heap per step`,
    value: bytes(weight.ours),
    ...(weight.published && { beside: bytes(weight.published), ratio: times(weight.published, weight.ours) }),
  })
  if (steps === 10_000) {
    const tenth = steps / 10 / BUCKET
    const growth = ({ perStep }) => mean(perStep.slice(-tenth)) / mean(perStep.slice(0, tenth))
    rows.push({
      name: 'time per step, last thousand to first',
      value: `${growth(mine).toFixed(2)} ×`,
      ...(theirs && { beside: `${growth(theirs).toFixed(2)} ×` }),
    })
  }
}
// Of these the processor's time, since garbage is most of the difference, and collecting it is not all done in the thread that waits.
const ROUNDS = 5
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
for (const [name, ...pair] of [
  ['the adapter takes `historyOf(request)` each time, beside one that reads nothing', 'history', 'nothing'],
  ['the adapter walks `historyOf(request)` each time, beside one that walks an array of its own', 'walk', 'walkOwn'],
  ['the adapter takes `request.messages`, an array, each time, beside one that reads nothing', 'array', 'nothing'],
]) {
  const seen = { [pair[0]]: [], [pair[1]]: [] }
  for (let round = -1; round < ROUNDS; round++) {
    for (const read of pair) {
      const { cpuNs } = await run(ours, 10_000, { read })
      if (round >= 0) seen[read].push(cpuNs)
    }
  }
  const [mine, other] = pair.map((read) => median(seen[read]))
  rows.push({ name: `10,000 steps, ${name}`, value: rate(mine), beside: rate(other), ratio: times(mine, other) })
}
report({ title: 'The loop with both guards, beside the published harness', rows, bucket: BUCKET, series })
process.exit(0)
