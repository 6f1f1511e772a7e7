// A trivial tool call through the pipeline: without guards, with each, with both; small and 100 KB arguments; in the same turns
// as the published harness. And what Cordis' own dispatches take of it, and what a plain copy of large arguments takes.
import { Context } from '@deepseek-ai/cordis'
import * as ours from '../hosts/ours.mjs'
import * as published from '../hosts/published.mjs'
import { argumentsOf, nanoseconds, perSecond, report, times, us } from '../measure.mjs'

const setups = { none: {}, timeout: { timeout: true }, reminder: { remind: true }, both: { timeout: true, remind: true } }
const sizes = { small: { path: 'src/index.ts', line: 3 }, '100 KB': argumentsOf(100_000) }
const { signal } = new AbortController()
const mounted = {}
for (const [setup, options] of Object.entries(setups)) {
  mounted[setup] = { ours: await ours.mount(options), published: await published.mount(options) }
}

const { events } = new Context()
/** What the bus alone takes for a call, when nobody listens. */
function dispatches() {
  events.dispatch('waterfall', ['tools/pre-execute', undefined])
  events.dispatch('waterfall', ['tools/execute', undefined])
  events.dispatch('waterfall', ['tools/post-execute', undefined])
  events.dispatch('emit', ['tools/result', undefined, undefined])
}

const rows = []
const figures = {}
for (const [size, args] of Object.entries(sizes)) {
  const tasks = { dispatches, clone: () => structuredClone(args) }
  for (const [setup, hosts] of Object.entries(mounted)) {
    tasks[`${setup} ours`] = () => hosts.ours.call(args, signal)
    tasks[`${setup} published`] = () => hosts.published.call(args, signal)
  }
  const ns = await nanoseconds(tasks, { time: 300 })
  figures[size] = ns
  const call = ns['none ours']
  const [floor, least] =
    size === 'small' ? ["Cordis' four dispatches without listeners", ns.dispatches] : ['`structuredClone` of the arguments', ns.clone]
  rows.push({ name: `${size}, guards: none, beside ${floor}`, value: us(call), beside: us(least), ratio: times(call, least) })
  for (const setup of Object.keys(setups)) {
    const [a, b] = [ns[`${setup} ours`], ns[`${setup} published`]]
    rows.push({ name: `${size}, guards: ${setup}`, value: `${us(a)} (${perSecond(a)})`, beside: us(b), ratio: times(b, a) })
  }
  for (const guard of ['timeout', 'reminder']) {
    const [a, b] = ['ours', 'published'].map((host) => ns[`${guard} ${host}`] - ns[`none ${host}`])
    const drowned = a <= 0 || b <= 0
    rows.push({
      name: `${size}, added by ${guard}`,
      value: a <= 0 ? 'less than the noise' : us(a),
      beside: b <= 0 ? 'less than the noise' : us(b),
      ...(!drowned && { ratio: times(b, a) }),
    })
  }
}
report({ title: 'Tool pipeline, beside the published harness', rows, figures })
process.exit(0)
