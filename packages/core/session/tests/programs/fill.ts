// Appends until the disk is full, and reports what happened.
import { Context } from '@deepseek-ai/cordis'
import { codeOf } from '@loopguard/llm'
import SessionStore, { type Session } from '@loopguard/session'

const [directory = '', id = ''] = process.argv.slice(2)
const ctx = new Context()
let published = 0
ctx.on('session/event', () => void published++)
await ctx.plugin(SessionStore, { directory })
report(run())

function run(): Record<string, unknown> {
  let session: Session
  try {
    session = ctx.sessions.create(id)
  } catch (refused) {
    return { refused: codeOf(refused) }
  }
  const failure = fill(session)
  const { code, cause } = failure as { code?: string; cause?: { code?: string } }
  const size = session.events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)) + 1, 0)
  const again = codeOf(failureOf(() => session.append('session/note' as never, 'small' as never)))
  session.close()
  return { committed: session.events.length, code, cause: cause?.code, again, size, published }
}

function fill(session: Session): unknown {
  for (let length = 1; ; length += 7) {
    const failure = failureOf(() => session.append('session/note' as never, 'x'.repeat(length) as never))
    if (failure !== undefined) return failure
  }
}

function failureOf(act: () => unknown): unknown {
  try {
    act()
    return undefined
  } catch (thrown) {
    return thrown
  }
}

function report(outcome: Record<string, unknown>): void {
  process.stdout.write(JSON.stringify(outcome))
}
