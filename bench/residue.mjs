// What a process holds at one moment, and what of it should not have grown.
import { getEventListeners } from 'node:events'
import { heap } from './measure.mjs'

/**
 * Counts what is alive after a collection.
 * @param {{ signal: AbortSignal, ctx: import('@deepseek-ai/cordis').Context }} held the signal of every call, and the context of the host
 */
export async function residueOf({ signal, ctx }) {
  const heapUsed = await heap()
  const resources = process.getActiveResourcesInfo()
  const timers = resources.filter((name) => name === 'Timeout' || name === 'Immediate').length
  const processListeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  const hooks = Object.values(ctx.events._hooks).reduce((sum, list) => sum + list.length, 0)
  return {
    heap: heapUsed,
    rss: process.memoryUsage().rss,
    signalListeners: getEventListeners(signal, 'abort').length,
    processListeners,
    hooks,
    agents: ctx.agentLoop.list().length,
    sessions: ctx.sessions.list().length,
    timers,
    otherResources: resources.length - timers,
  }
}

const COUNTED = ['signalListeners', 'processListeners', 'hooks', 'agents', 'sessions', 'timers', 'otherResources']

const NONE_WHEN_IDLE = ['signalListeners', 'timers']

/**
 * What is left over at the end that was not there at the start, in words; nothing when all is well.
 * @param {number} bound how many bytes the heap may have grown by
 */
export function leftOver(start, end, bound) {
  const faults = COUNTED.filter((name) => end[name] > start[name]).map((name) => `${name}: ${end[name]}, ${start[name]} at the start`)
  // Warming up may have left one already.
  faults.push(
    ...NONE_WHEN_IDLE.filter((name) => end[name] > 0 && end[name] === start[name]).map(
      (name) => `${name}: ${end[name]}, and none should be left`,
    ),
  )
  const grown = end.heap - start.heap
  if (grown > bound) faults.push(`heap: grown by ${grown} bytes, at most ${bound} are allowed`)
  return faults
}

/** @param {Record<string, Awaited<ReturnType<typeof residueOf>>>} moments by name, in order */
export function tableOfResidue(moments) {
  const names = Object.keys(Object.values(moments)[0])
  const mib = (name, value) => (name === 'heap' || name === 'rss' ? `${(value / 2 ** 20).toFixed(2)} MiB` : String(value))
  const rows = [['', ...Object.keys(moments)], ...names.map((name) => [name, ...Object.values(moments).map((at) => mib(name, at[name]))])]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  '))
    .join('\n')
}
