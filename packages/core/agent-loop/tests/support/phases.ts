import type { Agent } from '@loopguard/agent-loop'
import { LlmError } from '@loopguard/llm'
import { createHarness, gate, type Gate, type Harness, type HarnessOptions, userMessage } from '@loopguard/testkit'
import { pausing, Streams } from './streams.ts'
import { tool } from './tools.ts'

/** A moment in the life of an agent at which something can be done to it. */
export interface Phase {
  readonly name: string
  /** What the turn has logged by then. */
  readonly before: readonly string[]
  /** What the turn logs after that, when it is aborted then: up to and without its end. */
  readonly after: readonly string[]
  /** The claimed message has not entered the log at this phase. */
  readonly unentered?: true
  /** What is awaited follows the signal: an abort ends it. */
  readonly endsByItself?: true
  build(reached: Gate, more: Gate): HarnessOptions
  prepare?(harness: Harness, agent: Agent, reached: Gate, more: Gate): void
}

const opening = ['turn 1', 'step 1.1', 'user hi', 'claimed: hi']
const asks = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) })

/** Opens `reached`, then waits for `more`, whatever happens. */
const hold = async (reached: Gate, more: Gate): Promise<void> => {
  reached.open()
  await more.opened
}

/** Every phase of a running turn in which something is awaited. */
export const phases: readonly Phase[] = [
  {
    name: 'in pre-step',
    before: ['turn 1'],
    after: [],
    unentered: true,
    build: () => ({}),
    prepare(harness, _agent, reached, more) {
      harness.ctx.on('agent/pre-step', async (_event, next) => {
        await hold(reached, more)
        return next()
      })
    },
  },
  {
    name: 'before the first chunk',
    endsByItself: true,
    before: opening,
    after: ['end 1.1'],
    build: (reached) => ({
      script: [
        () => {
          reached.open()
          return 'hang'
        },
      ],
    }),
  },
  {
    name: 'mid-stream',
    endsByItself: true,
    before: opening,
    after: ['model so far (interrupted)', 'end 1.1'],
    build: (reached, more) => ({ adapter: new Streams(pausing('so far', reached, more)) }),
  },
  {
    name: 'in request-error',
    before: [...opening, 'failed 1.1 attempt 1: BUSY'],
    after: ['end 1.1'],
    build: () => ({
      script: [
        () => {
          throw new LlmError('busy', 'BUSY')
        },
      ],
    }),
    prepare(harness, _agent, reached, more) {
      harness.ctx.on('agent/request-error', async () => {
        await hold(reached, more)
        return { kind: 'retry' }
      })
    },
  },
  {
    name: 'during an approval',
    endsByItself: true,
    before: [...opening, 'model [call_1 look({})] [call_2 look({})]'],
    after: [
      'call call_1',
      'result call_1 failed ABORTED_BEFORE_DISPATCH',
      'call call_2',
      'result call_2 failed ABORTED_BEFORE_DISPATCH',
      'end 1.1',
    ],
    build: () => ({ script: [asks('look', 'look')], tools: [tool('look')] }),
    prepare(harness, _agent, reached, more) {
      harness.ctx.on('tools/pre-execute', async () => ({ kind: 'ask' }))
      harness.ctx.provide('approval', {
        request: async () => {
          await hold(reached, more)
          return 'allowed-once'
        },
      })
    },
  },
  {
    name: 'during a body',
    before: [...opening, 'model [call_1 slow({})] [call_2 slow({})]', 'call call_1'],
    after: ['result call_1 failed ABORTED', 'call call_2', 'result call_2 failed ABORTED_BEFORE_DISPATCH', 'end 1.1'],
    build: (reached, more) => ({
      script: [asks('slow', 'slow')],
      tools: [
        tool('slow', async () => {
          await hold(reached, more)
          return 'too late'
        }),
      ],
    }),
  },
  {
    name: 'during bodies that overlap',
    before: [...opening, 'model [call_1 slow({})] [call_2 slow({})]', 'call call_1', 'call call_2'],
    after: ['result call_1 failed ABORTED', 'result call_2 failed ABORTED', 'end 1.1'],
    build: (reached, more) => ({
      script: [asks('slow', 'slow')],
      tools: [
        tool(
          'slow',
          async (_args, { callId }) => {
            if (callId === 'call_2') reached.open()
            await more.opened
            return 'too late'
          },
          { isConcurrencySafe: () => true },
        ),
      ],
    }),
  },
  {
    name: 'in post-execute, between two calls',
    before: [...opening, 'model [call_1 look({})] [call_2 look({})]', 'call call_1'],
    after: ['result call_1: ok', 'call call_2', 'result call_2 failed ABORTED_BEFORE_DISPATCH', 'end 1.1'],
    build: () => ({ script: [asks('look', 'look')], tools: [tool('look')] }),
    prepare(harness, _agent, reached, more) {
      harness.ctx.on('tools/post-execute', async (_exec, _result, next) => {
        await hold(reached, more)
        return next()
      })
    },
  },
  {
    name: 'in turn-stopping',
    before: [...opening, 'model ok', 'end 1.1'],
    after: [],
    build: () => ({ script: [{ text: 'ok' }] }),
    prepare(harness, _agent, reached, more) {
      harness.ctx.on('agent/turn-stopping', () => hold(reached, more))
    },
  },
]

export interface Reached extends AsyncDisposable {
  readonly harness: Harness
  readonly agent: Agent
  readonly phase: Phase
  /** Lets what is held go on. */
  go(): void
}

/** An agent that was told "hi" and stands in a phase of its first turn. */
export async function reach(phase: Phase): Promise<Reached> {
  const reached = gate()
  const more = gate()
  const harness = await createHarness(phase.build(reached, more))
  const agent = harness.agent()
  phase.prepare?.(harness, agent, reached, more)
  agent.followup(userMessage('hi'))
  await reached.opened
  return {
    harness,
    agent,
    phase,
    go: () => more.open(),
    async [Symbol.asyncDispose]() {
      more.open()
      await harness.dispose()
    },
  }
}
