import { readdir, readFile } from 'node:fs/promises'
import {
  createFailureTracker,
  createRepeatTracker,
  isReminder,
  type Outcome,
  type Reading,
  remindIn,
  type RepeatConfig,
} from '@loopguard/repeat'
import { describe, expect, it } from 'vitest'

const TRACES = new URL('../../../test-support/testkit/traces/', import.meta.url)

interface Expected {
  readonly file: string
  readonly calls: number
  readonly exact_today: readonly number[]
  readonly exact_with_result_gate: readonly number[]
  readonly repeated_failure: readonly number[]
}

interface Message {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[]
  readonly tool_call_id?: string
  readonly is_error?: boolean
}

const read = async <T>(file: string): Promise<T> => JSON.parse(await readFile(new URL(file, TRACES), 'utf8')) as T
const expected = await read<Expected[]>('expected.json')

const callsOf = ({ tool_calls: calls = [] }: Message) =>
  calls.map(({ id, function: { name, arguments: raw } }) => ({ id, name, args: JSON.parse(raw) as unknown }))
const outcomeOf = ({ content, is_error: isError = false }: Message): Outcome => ({ isError, text: content ?? '' })

/** Which calls of a conversation a tracker speaks of, counted from 1. */
function spoken(
  messages: readonly Message[],
  observe: (name: string, args: unknown, outcome: Outcome) => string | undefined,
  reset: () => void,
): number[] {
  const results = new Map(messages.map((message) => [message.tool_call_id, outcomeOf(message)]))
  const said: number[] = []
  let calls = 0
  for (const message of messages) {
    if (message.role === 'user') reset()
    for (const { id, name, args } of callsOf(message)) {
      calls++
      if (observe(name, args, results.get(id) as Outcome) !== undefined) said.push(calls)
    }
  }
  return said
}

function repeated(messages: readonly Message[], config: RepeatConfig): number[] {
  const [tracker, agent] = [createRepeatTracker(config), {}]
  return spoken(
    messages,
    (name, args, outcome) => tracker.observe(agent, name, args, outcome),
    () => tracker.reset(agent),
  )
}

/** The same by the fold: after which result a reminder stands. */
function folded(messages: readonly Message[], config: RepeatConfig): number[] {
  const reader = (message: Message): Reading => ({
    user: message.role === 'user' ? (message.content ?? '') : undefined,
    calls: callsOf(message),
    results: message.role === 'tool' ? [outcomeOf(message)] : false,
  })
  let calls = 0
  return remindIn<Message>(config, messages, reader, (content) => ({ role: 'user', content })).flatMap((message) => {
    if (message.role === 'tool') calls++
    return isReminder(message.content ?? '') ? [calls] : []
  })
}

it('there is a trace for each expectation, and the other way round', async () => {
  const files = (await readdir(TRACES)).filter((file) => file.endsWith('.json') && file !== 'expected.json')
  expect(expected.map(({ file }) => file)).toEqual(files.toSorted())
  expect(files.length).toBe(14)
})

describe.each(expected)('$file', ({ file, calls, exact_today: today, exact_with_result_gate: gated, repeated_failure: failures }) => {
  const messages = read<{ messages: Message[] }>(file).then((trace) => trace.messages)

  it('equal calls in a row, with any results', async () => {
    expect((await messages).flatMap(callsOf)).toHaveLength(calls)
    expect(repeated(await messages, {})).toEqual(today)
    expect(folded(await messages, {})).toEqual(today)
  })

  it('equal calls in a row, with unchanged results', async () => {
    expect(repeated(await messages, { results: 'unchanged' })).toEqual(gated)
    expect(folded(await messages, { results: 'unchanged' })).toEqual(gated)
  })

  it('failures of one call with one error, beside the reminder of equal calls', async () => {
    const [tracker, agent] = [createFailureTracker({}, { quiet: {} }), {}]
    const said = spoken(
      await messages,
      (name, args, outcome) => tracker.observe(agent, name, args, outcome),
      () => tracker.reset(agent),
    )
    expect(said).toEqual(failures)
  })
})
