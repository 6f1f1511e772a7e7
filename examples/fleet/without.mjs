// Takes one of the safeguards out, to see what it is good for. Only for the experiment: FLEET_WITHOUT names it.
export const name = 'fleet-without'
export const inject = ['sessions']

const REMOVALS = {
  nothing() {},
  // The loop asks for a barrier, and goes on at once.
  barriers(backend) {
    const hasty = (sink) => {
      const { close } = sink
      sink.flush = () => Promise.resolve()
      sink.close = () => {
        delete sink.flush
        close.call(sink)
      }
      return sink
    }
    const { create, load } = backend
    backend.create = (id) => hasty(create.call(backend, id))
    backend.load = async (id) => {
      const { events, log } = await load.call(backend, id)
      return { events, log: hasty(log) }
    }
  },
  // Whoever writes, writes at the end of the log; nobody looks at a clock.
  fencing(backend) {
    const checks = 'WHERE s.id = b.id AND s.epoch = b.epoch AND s.next_seq = b.first RETURNING s.id'
    const places = 'SELECT e.id, e.seq, e.line FROM'
    if (!backend.sql.append.includes(checks) || !backend.sql.append.includes(places)) throw new Error('the statement has changed')
    backend.sql.append = backend.sql.append
      .replace('next_seq = b.first + b.n', 'next_seq = s.next_seq + b.n')
      .replace(checks, 'WHERE s.id = b.id RETURNING s.id, s.next_seq - b.first - b.n AS off')
      .replace(places, 'SELECT e.id, e.seq + ok.off, e.line FROM')
    Object.defineProperty(backend.lease, 'isValid', { get: () => true })
  },
  // Of a dead worker's sessions only those with an open turn or with mail are visited.
  orphans(backend) {
    const all = 'WHERE holder IS NOT NULL AND holder NOT IN (SELECT n FROM alive)'
    if (!backend.sql.claimOrphans.includes(all)) throw new Error('the statement has changed')
    const some = `${all} AND (busy OR id IN (SELECT session FROM loopguard.mail))`
    backend.sql.claimOrphans = backend.sql.claimOrphans.replace(all, some)
  },
}

export function apply(ctx) {
  // The backend of the service is nobody's business; an experiment may look.
  const { backend } = ctx.get('sessions')
  REMOVALS[process.env.FLEET_WITHOUT ?? 'nothing'](backend)
}
