import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import Jobs from '@loopguard/jobs'
import * as jobTools from '@loopguard/jobs/tools'
import { createUserMessage, text } from '@loopguard/llm'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import { gate } from '@loopguard/testkit'
import { describe, expect, it } from 'vitest'
import { host, told, tool, until } from './support.ts'

const call = (name: string, args: unknown = {}, words?: string) => ({ calls: [{ name, arguments: args }], ...(words && { text: words }) })

describe('what a client is told', () => {
  it('text, a call as it is announced, started and answered, and the text after it; the answer to the prompt comes last', async () => {
    const { open, prompt, updates, frames } = await host({
      script: [call('look', { path: 'a  b\nc' }, 'I look.'), { text: 'Seen.' }],
      tools: [tool('look', () => 'two\nlines')],
    })
    const id = await open()
    expect(await prompt(id, 'go')).toEqual({ stopReason: 'end_turn' })
    expect(told(updates())).toEqual([
      'says: I look.',
      'call call_1 pending: look {"path":"a b\\nc"}',
      'call call_1 in_progress',
      'call call_1 completed: two\nlines',
      'says: Seen.',
    ])
    expect(frames.at(-1)).toMatchObject({ result: { stopReason: 'end_turn' } })
    expect(frames.filter(({ method }) => method === 'session/update')).toSatisfy((all: { params: { sessionId: string } }[]) =>
      all.every(({ params }) => params.sessionId === id),
    )
  })

  it('the id of a message is its turn, step and attempt; a call has its id, its tool, its kind and its input', async () => {
    const { open, prompt, updates } = await host({
      script: [call('todo_write', { todos: [] }, 'I plan.'), call('odd', 'no json {'), { text: 'Done.' }],
      tools: [tool('todo_write', () => 'ok'), tool('odd', () => 'ok')],
    })
    await prompt(await open(), 'go')
    const ids = updates().flatMap((update) => (update.sessionUpdate === 'agent_message_chunk' ? [update.messageId] : []))
    expect(ids).toEqual(['1.1.1', '1.3.1'])
    const calls = updates().filter(({ sessionUpdate }) => sessionUpdate === 'tool_call')
    expect(calls).toMatchObject([
      { toolCallId: 'call_1', name: 'todo_write', kind: 'think', rawInput: { todos: [] } },
      { toolCallId: 'call_2', name: 'odd', kind: 'other', rawInput: 'no json {' },
    ])
  })

  it('reasoning is a thought', async () => {
    const { open, prompt, updates } = await host({
      script: [
        [
          { type: 'block-start', index: 0, blockType: 'reasoning' },
          { type: 'block-end', index: 0, block: { type: 'reasoning', text: 'Hm.' } },
          { type: 'block-start', index: 1, blockType: 'text' },
          { type: 'block-end', index: 1, block: { type: 'text', text: 'Yes.' } },
          { type: 'finish', reason: { kind: 'stop' } },
        ],
      ],
    })
    await prompt(await open(), 'go')
    expect(told(updates())).toEqual(['thinks: Hm.', 'says: Yes.'])
  })

  it('a failed call says how: what was thrown, a timeout, a denial, a tool that is not there', async () => {
    const { open, prompt, updates, ctx } = await host({
      script: [call('throws'), call('slow'), call('denied'), call('nobody'), { text: 'Well.' }],
      tools: [
        tool('throws', () => Promise.reject(Object.assign(new Error('boom'), { code: 'BOOM' }))),
        tool('slow', (_args, { signal }) => new Promise((_ok, no) => signal.addEventListener('abort', () => no(signal.reason as Error))), {
          timeoutMs: 20,
        }),
        tool('denied', () => 'never'),
      ],
      plugins: [timeoutPolicy],
    })
    ctx.on('tools/pre-execute', (exec, next) => (exec.name === 'denied' ? Promise.resolve({ kind: 'deny', reason: 'not here' }) : next()))
    await prompt(await open(), 'go')
    const lines = told(updates())
    expect(lines).toContain('call call_1 failed BOOM: Error: boom')
    expect(lines).toContain('call call_2 failed TOOL_TIMEOUT: Error: tool call timed out after 20ms')
    expect(lines).toContain('call call_3 failed DENIED: Error: not here')
    expect(lines.findLast((line) => line.startsWith('call call_4'))).toMatch(/^call call_4 failed \w+: /)
  })

  it('a reminder is a thought that names its plugin and its call; no other thought does', async () => {
    const again = call('look', { q: 1 })
    const { open, prompt, updates, agent } = await host({
      script: [again, again, again, again, again, { text: 'Enough.' }],
      tools: [tool('look', () => 'nothing')],
      plugins: [repeatToolReminder],
    })
    const id = await open()
    await prompt(id, 'go')
    const thoughts = updates().filter(({ sessionUpdate }) => sessionUpdate === 'agent_thought_chunk')
    expect(thoughts.map(({ _meta }) => _meta)).toEqual([
      { loopguard: { kind: 'reminder', plugin: 'repeat-tool-reminder', callId: 'call_3' } },
      { loopguard: { kind: 'reminder', plugin: 'repeat-tool-reminder', callId: 'call_5' } },
    ])
    const logged = agent(id).session.events.flatMap(({ type, data }) =>
      type === 'user/message' && data.source.kind === 'plugin' ? [data.content[0]] : [],
    )
    expect(thoughts.map((thought) => 'content' in thought && thought.content)).toEqual(logged)
  })

  it('the end of a job is a notice, also when no prompt runs', async () => {
    const done = gate()
    const { open, prompt, updates } = await host({
      script: [call('work'), { text: 'It runs.' }, { text: 'It has ended.' }],
      plugins: [Jobs, jobTools],
      tools: [],
      behind: [
        {
          name: 'work',
          inject: ['jobs', 'tools'],
          apply(ctx) {
            const run = () => ({
              cancel() {},
              done: done.opened.then(() => ({ status: 'completed' as const })),
              readOutput: () => ({ text: '', end: 0 }),
            })
            ctx.tools.register(
              tool('work', (_args, { agent }) => `started ${ctx.jobs.start({ kind: 'work', label: 'much', owner: agent as never, run })}`),
            )
          },
        },
      ],
    })
    await prompt(await open(), 'go')
    expect(told(updates()).at(-1)).toBe('says: It runs.')
    done.open()
    await until(() => told(updates()).at(-1) === 'says: It has ended.', 'the turn of the notice')
    expect(told(updates()).at(-2)).toMatch(/^thinks \(notice jobs\): Background job work-1 .* has ended/)
  })

  it('what others say to the agent is shown, what the client has said is not sent back', async () => {
    const { open, prompt, updates, agent } = await host({ script: [{ text: 'One.' }, { text: 'Two.' }] })
    const id = await open()
    await prompt(id, 'mine')
    agent(id).followup(createUserMessage({ content: [text('not mine')], source: { kind: 'user' } }))
    await until(() => told(updates()).at(-1) === 'says: Two.', 'the second turn')
    expect(told(updates())).toEqual(['says: One.', 'user: not mine', 'says: Two.'])
  })
})
