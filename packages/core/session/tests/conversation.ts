import type { SessionEvent } from '@loopguard/session'
import fc from 'fast-check'
import { assistant, type Entry, resultOf, user } from './support.ts'

/** One call of a step, and how far it came. */
interface Call {
  readonly id: string
}

interface Step {
  readonly calls: readonly Call[]
  readonly overlap: boolean
  readonly speaks: boolean
}

/** Turns as a loop would write them: calls that overlap are all logged before their results. */
export const conversations: fc.Arbitrary<Entry[]> = fc
  .array(fc.array(fc.record({ calls: fc.nat({ max: 3 }), overlap: fc.boolean(), speaks: fc.boolean() }), { minLength: 1, maxLength: 3 }), {
    maxLength: 3,
  })
  .map((turns) => {
    let ids = 0
    return turns.flatMap((steps, index) => {
      const turn = index + 1
      const asked = user(`turn ${turn}`)
      return [
        ['inbox/queued', { target: 'next-turn', message: asked }],
        ['turn/start', { turn }],
        ...steps.flatMap(({ calls, ...rest }, at) => {
          const step = { ...rest, calls: Array.from({ length: calls }, () => ({ id: `c${ids++}` })) }
          return stepOf(turn, at + 1, step, at === 0 ? asked : undefined)
        }),
        ['turn/end', { turn, reason: { kind: 'completed' } }],
      ] satisfies Entry[]
    })
  })

function stepOf(turn: number, step: number, { calls, overlap, speaks }: Step, asked: ReturnType<typeof user> | undefined): Entry[] {
  const place = { turn, step }
  const started = calls.map(({ id }): Entry => ['tool/call', { ...place, callId: id, name: 'read', arguments: '{}' }])
  const answered = calls.map(({ id }): Entry => ['tool/result', { ...place, message: resultOf(id, 'done') }])
  return [
    ['step/start', place],
    ...(asked === undefined
      ? []
      : ([
          ['user/message', asked],
          ['inbox/removed', { ids: [asked.id], cause: 'claimed' }],
        ] satisfies Entry[])),
    [
      'assistant/message',
      {
        ...place,
        message: assistant(
          speaks ? 'hm' : '',
          calls.map(({ id }) => id),
        ),
      },
    ],
    ...(overlap ? [...started, ...answered] : started.flatMap((entry, index) => [entry, answered[index] as Entry])),
    ['step/end', place],
  ]
}

/**
 * What is wrong with how a log nests, told anew: turns and steps are whole and numbered on, every call of the model has exactly one
 * result within its step, and nothing is left open.
 */
export function faultsIn(events: readonly SessionEvent[]): string[] {
  const faults: string[] = []
  let turn: number | undefined
  let step: number | undefined
  let turns = 0
  let steps = 0
  let open: string[] = []
  const check = (holds: boolean, fault: string, { seq, type }: SessionEvent): void => {
    if (!holds) faults.push(`${seq} ${type}: ${fault}`)
  }
  for (const [index, event] of events.entries()) {
    check(event.seq === index, `is at ${index}`, event)
    switch (event.type) {
      case 'session/start':
        check(index === 0, 'is not first', event)
        break
      case 'turn/start':
        check(turn === undefined && event.data.turn === ++turns, 'out of order', event)
        turn = event.data.turn
        steps = 0
        break
      case 'step/start':
        check(turn === event.data.turn && step === undefined && event.data.step === ++steps, 'out of order', event)
        step = event.data.step
        break
      case 'assistant/message':
        check(turn === event.data.turn && step === event.data.step, 'outside its step', event)
        open = event.data.message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
        break
      case 'tool/call':
        check(open.includes(event.data.callId), 'nobody asked for it', event)
        break
      case 'tool/result':
        check(open.includes(event.data.message.source.callId), 'answers no open call', event)
        // One of them: a model may give several calls one id.
        open = open.toSpliced(open.indexOf(event.data.message.source.callId), 1)
        break
      case 'step/end':
        check(step === event.data.step && turn === event.data.turn, 'out of order', event)
        check(open.length === 0, `leaves ${open.join()} unanswered`, event)
        step = undefined
        break
      case 'turn/end':
        check(turn === event.data.turn && step === undefined, 'out of order', event)
        turn = undefined
        break
      default:
    }
  }
  if (turn !== undefined || step !== undefined) faults.push('something is left open')
  return faults
}
