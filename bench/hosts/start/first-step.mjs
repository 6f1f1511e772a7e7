// Says what the process has taken when the first step begins: milliseconds since it started, and of processor time, all threads together.
export const name = 'first-step'

export function apply(ctx) {
  ctx.on('session/event', (_, { type }) => {
    if (type !== 'step/start') return
    const { user, system } = process.cpuUsage()
    console.error(`first step: ${JSON.stringify({ wall: performance.now(), cpu: (user + system) / 1000 })}`)
  })
}
