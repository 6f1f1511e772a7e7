// Steps of one turn, one tool call each: speed, how the time per step grows, and heap per step.
import * as ours from '../hosts/ours.mjs'
import * as published from '../hosts/published.mjs'
import { bytes, full, heap, report, times, us } from '../measure.mjs'

const SIZES = [100, 1_000, 3_000, 10_000]
const BUCKET = 100
/** The published harness may not get through the most steps: it is stopped then, and what it did until then counts. */
const LIMIT_MS = 12 * 60_000

/** A model that makes a call, each with other arguments, until it has made `steps` or the time is up. */
function script(steps, reads) {
  const until = performance.now() + LIMIT_MS
  let step = 0
  const marks = []
  let read = 0
  const chunksOf = (request) => {
    // As an adapter does that sends them: our host copies the history when it is read, and not before.
    if (reads) read += request.messages.length
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

async function run({ mount }, steps, reads = false) {
  const { chunksOf, marks, made } = script(steps, reads)
  const host = await mount({ timeout: true, remind: true, chunksOf })
  const before = await heap()
  const startedAt = performance.now()
  await host.say('go')
  const ms = performance.now() - startedAt
  const heapPerStep = ((await heap()) - before) / made()
  await host.ctx.fiber.dispose()
  const perStep = marks.slice(1).map((mark, index) => ((mark - marks[index]) * 1e6) / BUCKET)
  return { ns: (ms * 1e6) / made(), perStep, heapPerStep, made: made() }
}

// Warm, so that the first size is not the one that pays for the compiler.
for (const host of [ours, published]) await run(host, 300)

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
  series[steps] = { ours: mine.perStep, published: theirs?.perStep }
  rows.push({
    name: `${steps.toLocaleString('en')} steps`,
    value: rate(mine.ns),
    ...(theirs && besides(theirs, mine, steps)),
  })
  rows.push({
    name: `${steps.toLocaleString('en')} steps, heap per step`,
    value: bytes(mine.heapPerStep),
    ...(theirs && { beside: bytes(theirs.heapPerStep), ratio: times(theirs.heapPerStep, mine.heapPerStep) }),
  })
  if (steps === 10_000) {
    const tenth = steps / 10 / BUCKET
    const growth = ({ perStep }) => mean(perStep.slice(-tenth)) / mean(perStep.slice(0, tenth))
    const reading = await run(ours, steps, true)
    rows.push({ name: '10,000 steps, the adapter reads the history each time', value: rate(reading.ns) })
    rows.push({
      name: 'time per step, last thousand to first',
      value: `${growth(mine).toFixed(2)} ×`,
      ...(theirs && { beside: `${growth(theirs).toFixed(2)} ×` }),
    })
  }
}
report({ title: 'The loop with both guards, beside the published harness', rows, bucket: BUCKET, series })
process.exit(0)
