import { dirname, resolve } from 'node:path'
import { codeOf, messageOf } from '@loopguard/kit'
import { CallBook } from '../show/call-book.ts'
import { blockingLimit } from '../show/limits.ts'
import { linesFor } from '../show/lines.ts'
import type { LogEvent } from '../show/log-events.ts'
import type { Outlet } from '../show/outlet.ts'
import { Printout } from '../show/printout.ts'
import { LogFault } from './fault.ts'
import { idOf, sessionPackage } from './store.ts'

/**
 * Writes a stored log as a run would have shown it, from the turn `from` on. The log may be open elsewhere.
 * @throws LogFault when it cannot be read, or has fewer turns.
 */
export async function showLog(log: string, from: number, out: Outlet): Promise<void> {
  const file = resolve(log)
  const id = idOf(file, (await sessionPackage(file)).checkSessionId)
  const events = await eventsOf(file, id)
  const calls = new CallBook()
  const printout = new Printout(out.style, calls, await linesFor(out.style))
  let turn = 0
  for (const event of events) {
    calls.note(id, event)
    if (event.type === 'turn/start') turn = event.data.turn
    if (turn < from) continue
    out.write(printout.render(id, event, event.type === 'turn/end' ? blockingLimit(events, event.data.turn) : undefined))
  }
  if (turn < from)
    throw new LogFault(`${file} has ${turn === 1 ? 'one turn' : `${turn} turns`}: there is nothing to show from turn ${from} on`)
}

async function eventsOf(file: string, id: string): Promise<readonly LogEvent[]> {
  const { LogDirectory } = await sessionPackage(file)
  try {
    return (await new LogDirectory(dirname(file)).read(id)) as readonly LogEvent[]
  } catch (fault) {
    const hint = codeOf(fault) === 'BAD_LOG' ? '; `loopguard repair` makes a log of what can be read' : ''
    throw new LogFault(`${messageOf(fault)}${hint}`)
  }
}
