import { createHarness, gate } from '@loopguard/testkit'
import * as todo from '@loopguard/todo'
import { CallId } from '@loopguard/llm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { item, readBy, stage } from './host.ts'

const call = { callId: CallId('call-1'), name: 'todo_write', arguments: { todos: [item('a')] }, signal: new AbortController().signal }

describe('todo_write', () => {
  it('answers the counts and the list', async () => {
    const { write } = await stage()
    const list = [item('Read', 'completed'), item('Write', 'in_progress'), item('Test'), item('Ship')]
    expect(await write({ todos: list })).toEqual([
      '4 todos: 1 completed, 1 in progress, 2 pending\n[x] Read\n[>] Write\n[ ] Test\n[ ] Ship',
    ])
  })

  it('replaces the list: what is left out is gone, and an empty list is one', async () => {
    const { agent, write } = await stage()
    expect(todo.todosOf(agent.session)).toEqual([])
    await write({ todos: [item('a'), item('b')] })
    expect(todo.todosOf(agent.session)).toEqual([item('a'), item('b')])
    expect(await write({ todos: [item('b', 'completed')] })).toEqual(['1 todo: 1 completed, 0 in progress, 0 pending\n[x] b'])
    expect(todo.todosOf(agent.session)).toEqual([item('b', 'completed')])
    expect(await write({ todos: [] })).toEqual(['0 todos: 0 completed, 0 in progress, 0 pending'])
    expect(todo.todosOf(agent.session)).toEqual([])
  })

  it('logs the list between its call and its result', async () => {
    const { agent, write } = await stage()
    await write({ todos: [item('  Read\n', 'in_progress')] })
    const types = agent.session.events.map(({ type }) => type)
    expect(types.slice(types.indexOf('tool/call'), types.indexOf('tool/result') + 1)).toEqual(['tool/call', 'todo/write', 'tool/result'])
    expect(agent.session.events.find(({ type }) => type === 'todo/write')?.data).toEqual({ todos: [item('Read', 'in_progress')] })
  })

  it('keeps the list of each agent by itself', async () => {
    const { harness, agent, write } = await stage()
    const other = harness.agent()
    await write({ todos: [item('a')] })
    harness.model.push({ calls: [{ name: 'todo_write', arguments: { todos: [item('b')] } }] }, { text: 'done' })
    await harness.say(other, 'go')
    expect([todo.todosOf(agent.session), todo.todosOf(other.session)]).toEqual([[item('a')], [item('b')]])
  })

  it('shows an item of several lines on one', async () => {
    const { agent, write } = await stage()
    const content = 'Read:\r\n  a\u2028b'
    expect(await write({ todos: [item(content)] })).toEqual(['1 todo: 0 completed, 0 in progress, 1 pending\n[ ] Read: a b'])
    expect(todo.todosOf(agent.session)).toEqual([item(content)])
  })
})

describe('todo_write refuses', () => {
  const refused: [string, unknown[], string][] = [
    ['a blank item', [item('a'), item(' \n\t ')], 'todos[1].content is blank: say what there is to do'],
    [
      'an item that stands there twice, white space aside',
      [item('a'), item('b'), item(' a ', 'completed')],
      'todos[2].content says the same as todos[0]: "a"; each item must be unique',
    ],
    [
      'a long item that stands there twice, shortened',
      [item('a'.repeat(500)), item('a'.repeat(500))],
      `todos[1].content says the same as todos[0]: "${'a'.repeat(79)}…; each item must be unique`,
    ],
    [
      'a second item in progress',
      [item('a', 'in_progress'), item('b'), item('c', 'in_progress')],
      'todos[2] is in_progress, and so is todos[0]: only one item may be; the others are pending',
    ],
  ]

  it.each(refused)('%s', async (_what, todos, message) => {
    const { agent, write } = await stage()
    await write({ todos: [item('before')] })
    expect(await write({ todos })).toEqual([`Error: ${message}`])
    expect(todo.todosOf(agent.session)).toEqual([item('before')])
    const last = agent.session.events.findLast(({ type }) => type === 'tool/result')
    expect(last?.data).toMatchObject({ error: { code: 'BAD_TODO' } })
  })

  it.each([
    ['no list', {}],
    ['a list that is none', { todos: 'a' }],
    ['an item that is text', { todos: ['a'] }],
    ['an unknown status', { todos: [item('a', 'done')] }],
    ['an item without a status', { todos: [{ content: 'a' }] }],
    ['a content that is no text', { todos: [{ content: 1, status: 'pending' }] }],
    ['a key that it does not know', { todos: [{ ...item('a'), id: 1 }] }],
  ])('%s, by its schema', async (_what, args) => {
    const { agent, write } = await stage()
    expect((await write(args))[0]).toMatch(/^Error: invalid arguments: /)
    expect(todo.todosOf(agent.session)).toEqual([])
  })

  it('a call without an agent', async () => {
    const { harness } = await stage()
    const message = 'todo_write needs an agent with a session: the list is kept in its log'
    expect(await harness.ctx.tools.execute(call)).toMatchObject({ error: { message, info: { code: 'BAD_TODO' } } })
    const agent = { id: 'a', ctx: harness.ctx } as never
    expect(await harness.ctx.tools.execute({ ...call, agent })).toMatchObject({ error: { message, info: { code: 'BAD_TODO' } } })
  })

  it('to say that it has written what the log does not take', async () => {
    const { harness, agent } = await stage()
    agent.session.close()
    expect(await harness.ctx.tools.execute({ ...call, agent })).toMatchObject({
      isError: true,
      error: { info: { code: 'SESSION_CLOSED' } },
    })
  })
})

describe('the plugin', () => {
  it('allows several items in progress when it is told to, and tells the model so', async () => {
    const { harness, write } = await stage({ config: { allowParallelInProgress: true } })
    expect(await write({ todos: [item('a', 'in_progress'), item('b', 'in_progress')] })).toEqual([
      '2 todos: 0 completed, 2 in progress, 0 pending\n[>] a\n[>] b',
    ])
    expect(harness.model.requests[0]?.tools?.[0]?.description).toMatch(/The items that you work on are in_progress\.$/)
  })

  it('says by default that one item is in progress', async () => {
    const { harness, write } = await stage()
    await write({ todos: [] })
    expect(harness.model.requests[0]?.tools?.[0]?.description).toMatch(/The item that you work on is in_progress, and no other\.$/)
  })

  it('never overlaps: its call waits for the call before it, and the call after it waits for it', async () => {
    const order: string[] = []
    const entered = gate()
    const { harness, agent } = await stage({
      tools: [
        {
          name: 'look',
          description: '',
          parameters: {},
          isConcurrencySafe: () => true,
          async execute() {
            order.push('look starts')
            entered.open()
            await new Promise((resolve) => setImmediate(resolve))
            order.push('look ends')
            return 'seen'
          },
        },
      ],
    })
    harness.ctx.on('session/event', (_session, { type }) => void (type === 'todo/write' && order.push('list')))
    const look = { name: 'look', arguments: {} }
    harness.model.push({ calls: [look, { name: 'todo_write', arguments: { todos: [item('a')] } }, look] }, { text: 'done' })
    await harness.say(agent, 'go')
    await entered.opened
    expect(order).toEqual(['look starts', 'look ends', 'list', 'look starts', 'look ends'])
    expect(readBy(agent)).toHaveLength(3)
  })

  it('is gone after it was disposed of, and the list stays readable', async () => {
    const harness = await createHarness()
    onTestFinished(() => harness.dispose())
    const fiber = harness.ctx.plugin(todo)
    await fiber
    const agent = harness.agent()
    await harness.ctx.tools.execute({ ...call, agent })
    await fiber.dispose()
    expect(harness.ctx.tools.get('todo_write')).toBeUndefined()
    expect(todo.todosOf(agent.session)).toEqual([item('a')])
  })

  it('exports what a composition reads', () => {
    expect([todo.name, todo.inject]).toEqual(['todo', ['tools']])
    expect(Object.keys(todo).toSorted()).toEqual(['Config', 'apply', 'inject', 'name', 'todosOf'])
  })

  it.each([
    ['an unknown key', { allowParallel: true }, 'todo: unknown key `allowParallel`, expected `allowParallelInProgress`'],
    ['null', { allowParallelInProgress: null }, 'todo: `allowParallelInProgress` is null; leave it out to get its default'],
    ['text', { allowParallelInProgress: 'yes' }, 'allowParallelInProgress'],
    ['no map', 'yes', 'todo: the configuration must be a map, got "yes"'],
  ])('refuses a config with %s', async (_what, config, message) => {
    await expect(stage({ config: config as object })).rejects.toThrow(message)
  })
})
