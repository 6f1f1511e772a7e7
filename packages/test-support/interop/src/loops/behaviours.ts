import assert from 'node:assert/strict'
import type { Call, Guards, Loop, Turn } from './loop.ts'
import { hangIsSettled } from './tools.ts'

/** What is asked of the guards in each loop: one column of the matrix. `run` throws where it is not so. */
export interface LoopBehaviour {
  readonly id: string
  readonly says: string
  run(loop: Loop): Promise<void>
}

const look: Call = { name: 'look', json: '{"path":"a","line":1}' }
const turned: Call = { name: 'look', json: '{"line":1,"path":"a"}' }
const hang: Call = { name: 'hang', json: '{}' }
const thrice = (call: Call): Turn => [[call], [call], [call], 'done']

async function expectReminders(loop: Loop, turns: readonly Turn[], wanted: readonly number[], guards?: Guards): Promise<void> {
  assert.deepEqual((await loop.run(turns, guards)).reminders, wanted)
}

export const loopBehaviours: readonly LoopBehaviour[] = [
  {
    id: 'script',
    says: '`0,0,0,1,1,2,2` reminders in seven requests: five equal calls with keys in any order, one that hangs, a text',
    run: (loop) => expectReminders(loop, [[[look], [turned], [look], [turned], [look], [hang], 'done']], [0, 0, 0, 1, 1, 2, 2]),
  },
  {
    id: 'batch',
    says: '`0,1,2` for a batch of three, then two',
    run: (loop) => expectReminders(loop, [[[look, look, look], [turned, look], 'done']], [0, 1, 2]),
  },
  {
    id: 'failing',
    says: 'failing calls count',
    run: (loop) => expectReminders(loop, [thrice({ name: 'broken', json: '{}' })], [0, 0, 0, 1]),
  },
  {
    id: 'refused',
    says: 'calls that the schema refuses count',
    run: (loop) => expectReminders(loop, [thrice({ name: 'look', json: '{"path":1}' })], [0, 0, 0, 1]),
  },
  {
    id: 'unknown',
    says: 'calls of unknown tools count',
    run: (loop) => expectReminders(loop, [thrice({ name: 'nowhere', json: '{}' })], [0, 0, 0, 1]),
  },
  {
    id: 'user',
    says: 'a message of the user begins anew',
    run: (loop) => expectReminders(loop, [thrice(look), [[look], [look], 'done']], [0, 0, 0, 1, 1, 1, 1]),
  },
  {
    id: 'kept',
    says: 'nothing is kept after two turns',
    async run(loop) {
      assert.equal((await loop.run([thrice(look), thrice(look)])).kept, 0)
    },
  },
  {
    id: 'timeout',
    says: 'a late success is a timeout, once the tool has settled',
    async run(loop) {
      const { last } = await loop.run([[[hang], 'done']])
      assert.ok(hangIsSettled())
      assert.match(last, /tool call timed out after 100ms/)
      assert.doesNotMatch(last, /late success/)
    },
  },
  {
    id: 'unchanged',
    says: "under `results: 'unchanged'`, a result that changes begins anew",
    async run(loop) {
      const guards: Guards = { config: { results: 'unchanged' } }
      await expectReminders(loop, [thrice({ name: 'tick', json: '{}' })], [0, 0, 0, 0], guards)
      await expectReminders(loop, [thrice(look)], [0, 0, 0, 1], guards)
    },
  },
  {
    id: 'failures',
    says: 'the third failure of one call with one error is told, with other calls between',
    run: (loop) => {
      const broken: Call = { name: 'broken', json: '{}' }
      const turn = [[broken], [look], [broken], [look], [broken], 'done']
      return expectReminders(loop, [turn], [0, 0, 0, 0, 0, 1], { failures: { errors: '^An error occurred' } })
    },
  },
]
