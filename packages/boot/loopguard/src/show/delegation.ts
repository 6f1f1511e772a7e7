/** What the logs of children and goals hold, by shape. */
export interface DelegationData {
  'subagent/start': { readonly parent: string; readonly depth: number; readonly callId?: string }
  'goal/create': { readonly id: string; readonly objective: string; readonly maxRounds: number }
  'goal/update': { readonly id: string; readonly phase: string; readonly reason?: string }
}

interface Source {
  readonly kind: string
  readonly plugin?: string
  readonly agent?: string
  readonly goalId?: string
}

/** The label of a message, by its source: `user`, `plugin jobs`, `agent main`, `goal goal-1`. */
export function speakerOf({ kind, plugin, agent, goalId }: Source): string {
  const name = { plugin, agent, goal: goalId }[kind]
  return name === undefined ? kind : `${kind} ${name}`
}

/** The heading of a child: whose it is, and which call has made it. */
export function childOf({ parent, depth, callId }: DelegationData['subagent/start']): string {
  return `child of ${parent}, depth ${depth}${callId === undefined ? '' : ` [${callId}]`}`
}

/** What has become of a goal, in a line. */
export function goalLine(data: DelegationData['goal/create'] | DelegationData['goal/update']): string {
  if ('objective' in data) return `${data.id} is set, ${data.maxRounds} rounds at most: ${data.objective}`
  return `${data.id} is ${data.phase}${data.reason === undefined ? '' : `: ${data.reason}`}`
}
