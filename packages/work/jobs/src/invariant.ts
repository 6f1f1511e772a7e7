import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { Session, SessionEvent } from '@loopguard/session'
import type {} from './jobs.ts'

const plugin: Companion = companion({
  name: 'jobs-invariant',
  packageName: '@loopguard/jobs',
  inject: ['jobs'],
  install(ctx, fail) {
    const books = new WeakMap<Session, JobBook>()
    onDispatch(ctx, {
      'session/event': (args) => {
        const [session, event] = args as [Session, SessionEvent]
        let book = books.get(session)
        if (book === undefined) books.set(session, (book = new JobBook()))
        book.catchUp(session.events)
        const complaint = book.judge(event)
        if (complaint !== undefined) fail(`session "${session.id}": ${complaint}`)
      },
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that no id is given twice, that each end is that of a job that runs, and that it is told once, after it. A violation refuses the event. */
export const apply: Companion['apply'] = plugin.apply

/** What a log says of jobs, derived anew. */
class JobBook {
  private read = 0
  private readonly ids = new Set<string>()
  private readonly ended = new Set<string>()
  /** By job, the message that tells of its end. */
  private readonly notices = new Map<string, string>()

  catchUp(events: readonly SessionEvent[]): void {
    for (; this.read < events.length; this.read++) this.fold(events[this.read] as SessionEvent)
  }

  judge(event: SessionEvent): string | undefined {
    switch (event.type) {
      case 'job/start':
        return this.ids.has(event.data.id) ? `a second job "${event.data.id}" is started` : undefined
      case 'job/end':
        if (!this.ids.has(event.data.id)) return `job "${event.data.id}" ends, and was never started`
        return this.ended.has(event.data.id) ? `job "${event.data.id}" ends a second time` : undefined
      case 'inbox/queued': {
        const told = toldBy(event.data.message)
        if (told === undefined) return undefined
        if (!this.ended.has(told)) return `the end of job "${told}" is told, and the log has none`
        const notice = this.notices.get(told)
        return notice === undefined || notice === event.data.message.id ? undefined : `the end of job "${told}" is told a second time`
      }
      default:
        return undefined
    }
  }

  private fold(event: SessionEvent): void {
    if (event.type === 'job/start') this.ids.add(event.data.id)
    else if (event.type === 'job/end') this.ended.add(event.data.id)
    else if (event.type === 'inbox/queued') {
      const told = toldBy(event.data.message)
      if (told !== undefined) this.notices.set(told, event.data.message.id)
    }
  }
}

/** The job of which a message tells the end. */
function toldBy({ source, content }: SessionEvent<'inbox/queued'>['data']['message']): string | undefined {
  if (source.kind !== 'plugin' || source.plugin !== 'jobs') return undefined
  const [block] = content
  return block?.type === 'text' ? /^Background job (\S+) \(/.exec(block.text)?.[1] : undefined
}
