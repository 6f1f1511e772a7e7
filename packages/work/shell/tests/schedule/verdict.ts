import type { SessionEvent } from '@loopguard/session'

/** What a log says of one job. */
export interface JobStory {
  readonly id: string
  /** What the successful reads of it have given, one after the other. */
  printed: string
  /** Event at which it ended; none while it runs. */
  endedAt: number | undefined
  /** It ended because its owner was disposed of. */
  endedByDisposal: boolean
  /** Event at which the model first read of its end. */
  knownAt: number | undefined
  /** The model has killed it. */
  killed: boolean
  /** A read has shown its end, and so everything that it printed. */
  readEnd: boolean
  /** Events at which a notice of it was queued: each message once. */
  readonly notices: Map<string, number>
  /** The notice waits in the inbox, or went with its owner. */
  isWaiting: boolean
  /** Events at which the model was shown a notice of it. */
  readonly shown: number[]
}

const ENDED = /\[status: (completed|failed|killed)/

/** Reads the jobs out of a log. `disposals` are the events at which the owner began to go. */
export function storiesOf(
  events: readonly SessionEvent[],
  disposals: readonly { readonly from: number; readonly to: number }[],
): JobStory[] {
  const jobs = new Map<string, JobStory>()
  const calls = new Map<string, { readonly name: string; readonly id: string | undefined }>()
  const of = (id: string | undefined): JobStory | undefined => (id === undefined ? undefined : jobs.get(id))
  for (const { seq, type, data } of events) {
    if (type === 'job/start') {
      const { id } = data
      jobs.set(id, {
        id,
        printed: '',
        endedAt: undefined,
        endedByDisposal: false,
        knownAt: undefined,
        killed: false,
        readEnd: false,
        notices: new Map(),
        shown: [],
        isWaiting: false,
      })
    } else if (type === 'job/end') {
      const job = of(data.id) as JobStory
      job.endedAt = seq
      job.endedByDisposal = disposals.some(({ from, to }) => seq >= from && seq < to)
    } else if (type === 'tool/call') {
      const { job_id: id } = JSON.parse(data.arguments) as { readonly job_id?: string }
      calls.set(data.callId, { name: data.name, id })
    } else if (type === 'tool/result') {
      const [block] = data.message.content
      const call = calls.get(block.toolCallId)
      const [part] = block.content
      if (block.isError === true || call === undefined || part?.type !== 'text') continue
      const job = of(call.id)
      if (call.name === 'job_output' && job !== undefined) {
        const lines = part.text.split('\n').slice(0, -1)
        job.printed += lines[0] === '(no new output)' ? '' : lines.map((line) => `${line}\n`).join('')
        if (!ENDED.test(part.text)) continue
        job.knownAt ??= seq
        job.readEnd = true
      } else if (call.name === 'job_kill' && job !== undefined) {
        job.killed = true
        job.knownAt ??= seq
      } else if (call.name === 'job_list') {
        for (const [, id] of part.text.matchAll(/^(\S+) \[(?:completed|failed|killed)/gm)) {
          const listed = of(id)
          if (listed !== undefined) listed.knownAt ??= seq
        }
      }
    } else if (type === 'inbox/queued') {
      const job = of(toldBy(data.message))
      if (job === undefined) continue
      job.isWaiting = true
      if (!job.notices.has(data.message.id)) job.notices.set(data.message.id, seq)
    } else if (type === 'inbox/removed') {
      const isDisposal = disposals.some(({ from, to }) => seq >= from && seq < to)
      for (const job of jobs.values()) if (data.ids.some((id) => job.notices.has(id))) job.isWaiting = isDisposal
    } else if (type === 'user/message') {
      const job = of(toldBy(data))
      if (job !== undefined) job.shown.push(seq)
    }
  }
  return [...jobs.values()]
}

function toldBy({ source, content }: SessionEvent<'user/message'>['data']): string | undefined {
  const [block] = content
  if (source.kind !== 'plugin' || block?.type !== 'text') return undefined
  return /^Background job (\S+) /.exec(block.text)?.[1]
}

/** What is wrong with the notices of a job, if something is. */
export function noticeFault(job: JobStory): 'lost' | 'doubled' | 'needless' | 'early' | undefined {
  const [queuedAt] = job.notices.values()
  if (job.notices.size > 1 || job.shown.length > 1) return 'doubled'
  if (queuedAt !== undefined && (job.endedAt === undefined || queuedAt < job.endedAt)) return 'early'
  if (queuedAt !== undefined && job.endedByDisposal) return 'needless'
  // The model knew already when it was shown, or will be shown.
  const [shownAt = Infinity] = job.shown
  if (queuedAt !== undefined && job.knownAt !== undefined && job.knownAt < shownAt) return 'needless'
  if (job.endedAt === undefined || job.endedByDisposal) return undefined
  const isTold = job.shown.length > 0 || job.isWaiting || job.knownAt !== undefined
  return isTold ? undefined : 'lost'
}
