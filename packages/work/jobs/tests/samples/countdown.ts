import type { Context } from '@deepseek-ai/cordis'
import type { JobEnd, JobOwner } from '@loopguard/jobs'

export const name = 'countdown'
export const inject = ['jobs', 'tools']

/** A tool that starts a job: it counts to zero in the background, one number every `everyMs`. */
export function apply(ctx: Context, { everyMs = 1000 }: { readonly everyMs?: number } = {}): void {
  ctx.tools.register<{ readonly from: number }>({
    name: 'countdown',
    description: 'Counts to zero in the background.',
    parameters: { type: 'object', properties: { from: { type: 'integer', minimum: 1 } }, required: ['from'] },
    execute({ from }, { agent }) {
      const label = `count down from ${from}`
      const id = ctx.jobs.start({ kind: 'countdown', label, owner: agent as JobOwner, run: () => count(from, everyMs) })
      return `started background job ${id}`
    },
  })
}

function count(from: number, everyMs: number) {
  let printed = ''
  let cancel = (): void => {}
  const done = new Promise<JobEnd>((resolve) => {
    let left = from
    const timer = setInterval(() => {
      printed += `${left--}\n`
      if (left < 0) end('completed')
    }, everyMs)
    const end = (status: JobEnd['status']): void => {
      clearInterval(timer)
      resolve({ status })
    }
    cancel = () => end('killed')
  })
  return { cancel, done, readOutput: (since: number) => ({ text: printed.slice(since), end: printed.length }) }
}
