// Runs something under the inspector's CPU profiler, and says whose code the time went to.
import { existsSync, readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { SourceMap } from 'node:module'

const INTERVAL_US = 100

/**
 * Self time of each function while `work` ran, in microseconds, with the source that it stands in.
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
  const sourceOf = sourceFinder()
  for (const [index, id] of profile.samples.entries()) {
    const { functionName, url, lineNumber, columnNumber } = frames.get(id)
    // Nobody's: waiting, and the profiler itself.
    if (functionName === '(idle)' || url === 'node:inspector') continue
    const key = `${url} ${functionName} ${lineNumber}`
    const known = functions.get(key) ?? { name: functionName, url: sourceOf(url, lineNumber, columnNumber), us: 0 }
    known.us += Math.max(0, profile.timeDeltas[index])
    functions.set(key, known)
  }
  return [...functions.values()]
}

/** Follows the map beside a file that was built of several; a file without one is its own source. Lines and columns are counted from 0. */
function sourceFinder() {
  const maps = new Map()
  const mapOf = (url) => {
    const file = url.startsWith('file:') && new URL(`${url}.map`)
    return file && existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined
  }
  return (url, line, column) => {
    if (!maps.has(url)) maps.set(url, mapOf(url))
    const source = maps.get(url)?.findEntry(line, column).originalSource
    return source === undefined ? url : new URL(source, url).href
  }
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
  return `\`${name === '' ? 'anonymous' : name}\`${place === '' ? '' : `, ${place.replace(/\/(?:lib|src)\//, '/')}`}`
}
