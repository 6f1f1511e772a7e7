// Runs something under the inspector's CPU profiler, and says whose code the time went to.
import { Session } from 'node:inspector/promises'

const INTERVAL_US = 100

/**
 * Self time of each function while `work` ran, in microseconds.
 * @param {() => Promise<unknown>} work
 */
export async function profileOf(work) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  await session.post('Profiler.start')
  await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map()
  for (const [index, id] of profile.samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)
    // Nobody's: waiting, and the profiler itself.
    if (functionName === '(idle)' || url === 'node:inspector') continue
    const key = `${url} ${functionName} ${lineNumber}`
    const known = functions.get(key) ?? { name: functionName, url, us: 0 }
    known.us += Math.max(0, profile.timeDeltas[index])
    functions.set(key, known)
  }
  return [...functions.values()]
}

/** Whose code a function is. */
export function ownerOf({ name, url }) {
  if (name === '(garbage collector)') return 'Node: the garbage collector'
  if (url === '') return 'Node: native code'
  if (url.startsWith('node:')) return 'Node: its JavaScript'
  const [, installed] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
  if (installed !== undefined) return installed === '@deepseek-ai/cordis' ? 'Cordis' : installed
  const [, kind, folder] = /.*\/packages\/([^/]+)\/([^/]+)\//.exec(url) ?? []
  return folder === undefined ? 'the benchmark' : `ours: ${kind}/${folder}`
}

/** A function as a row names it: where it stands, without what all paths begin with. */
export function labelOf({ name, url }) {
  const [, place = url] = /.*\/node_modules\/(.*)$/.exec(url) ?? /.*\/packages\/[^/]+\/(.*)$/.exec(url) ?? /\/(bench\/.*)$/.exec(url) ?? []
  return `\`${name === '' ? 'anonymous' : name}\`${place === '' ? '' : `, ${place.replace('/lib/', '/')}`}`
}
