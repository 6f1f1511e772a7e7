import { createHarness, mountInvariants } from '@loopguard/testkit'
import * as todo from '@loopguard/todo'
import * as todoInvariant from '@loopguard/todo/invariant'
import { describe, expect, it, onTestFinished } from 'vitest'
import { item, readBy } from './host.ts'

/** An agent whose model writes one list, and the companion alone. */
async function watched() {
  const harness = await createHarness({
    invariants: false,
    script: [{ calls: [{ name: 'todo_write', arguments: { todos: [item(' a ')] } }] }, { text: 'done' }],
  })
  onTestFinished(() => harness.dispose())
  const watch = await mountInvariants(harness.ctx, { package_allowlist: ['^@loopguard/todo$'] })
  const companion = harness.ctx.plugin(todoInvariant)
  await companion
  return { harness, watch, companion, agent: harness.agent() }
}

describe('each list in the log is what its call wrote', () => {
  it('trips when a plugin logs a list of its own', async () => {
    const { watch, agent } = await watched()
    expect(() => agent.session.append('todo/write', { todos: [{ content: 'a', status: 'pending' }] })).toThrow('a list that no call wrote')
    expect(todo.todosOf(agent.session)).toEqual([])
    watch.assertBroken('@loopguard/todo', /session "agent-1": todo\/write holds a list that no call wrote$/)
  })

  it('trips when the list of a call is logged for another agent', async () => {
    const { harness, watch, agent } = await watched()
    const other = harness.agent()
    harness.ctx.on('tools/execute', (exec, next) => {
      other.session.append('todo/write', exec.arguments as never)
      return next()
    })
    await harness.say(agent, 'go')
    expect(todo.todosOf(other.session)).toEqual([])
    watch.assertBroken('@loopguard/todo', /session "agent-2": todo\/write holds a list that no call wrote$/)
  })

  it('trips when the tool logs another list than it was called with', async () => {
    const { harness, watch, agent } = await watched()
    harness.ctx.tools.register({
      name: 'todo_write',
      description: '',
      parameters: {},
      execute: () => String(agent.session.append('todo/write', { todos: [{ content: 'a', status: 'completed' }] }).seq),
    })
    await harness.say(agent, 'go')
    expect(readBy(agent)).toEqual([
      'Error: invariant violated by "@loopguard/todo": session "agent-1": todo/write holds another list than its call',
    ])
    watch.assertBroken('@loopguard/todo', /session "agent-1": todo\/write holds another list than its call$/)
  })
})

describe('the companion is silent about', () => {
  it('the tool, also when a wrapper runs it twice', async () => {
    const { harness, watch, agent } = await watched()
    await harness.ctx.plugin(todo)
    harness.ctx.on('tools/execute', async (_exec, next) => (await next(), next()))
    await harness.say(agent, 'go')
    expect(agent.session.events.filter(({ type }) => type === 'todo/write')).toHaveLength(2)
    watch.assertNone()
  })

  it('a call that was under way when it was loaded', async () => {
    const harness = await createHarness({
      invariants: false,
      script: [{ calls: [{ name: 'todo_write', arguments: { todos: [item('a')] } }] }, { text: 'done' }],
      plugins: [todo],
    })
    onTestFinished(() => harness.dispose())
    const watch = await mountInvariants(harness.ctx, { package_allowlist: ['^@loopguard/todo$'] })
    harness.ctx.on('tools/execute', async (_exec, next) => {
      await harness.ctx.plugin(todoInvariant)
      return next()
    })
    const agent = harness.agent()
    await harness.say(agent, 'go')
    expect(todo.todosOf(agent.session)).toEqual([item('a')])
    watch.assertNone()
  })

  it('anything, once it is gone', async () => {
    const { watch, companion, agent } = await watched()
    await companion.dispose()
    expect(agent.session.append('todo/write', { todos: [] }).data).toEqual({ todos: [] })
    watch.assertNone()
  })
})
