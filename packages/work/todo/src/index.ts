import type { Context } from '@deepseek-ai/cordis'
import type { Session, SessionEvent } from '@loopguard/session'
import type { ToolAgent, ToolDefinition } from '@loopguard/tools'
import { Config } from './config.ts'
import { badTodo, checkedList, listText, type Todo } from './list.ts'

export { Config } from './config.ts'
export type { Todo, TodoStatus } from './list.ts'

declare module '@loopguard/session' {
  interface SessionEventMap {
    /** The whole list, in place of the one before. Written by the tool `todo_write` alone. */
    'todo/write': { readonly todos: readonly Todo[] }
  }
}

/** The plugin's name in a composition. */
export const name = 'todo'

/** It registers a tool. */
export const inject: string[] = ['tools']

const description = (allowParallel: boolean): string =>
  'Replaces your list of things to do, and returns it. Use it for work of several steps: write the list when you start, and again ' +
  'when an item starts or is done. Send the whole list each time: an item that you leave out is gone. ' +
  (allowParallel ? 'The items that you work on are in_progress.' : 'The item that you work on is in_progress, and no other.')

const PARAMETERS = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      description: 'The whole list, in order.',
      items: {
        type: 'object',
        properties: {
          content: { type: 'string', description: 'What there is to do, in one line.' },
          status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
        },
        required: ['content', 'status'],
        additionalProperties: false,
      },
    },
  },
  required: ['todos'],
  additionalProperties: false,
}

/** Registers `todo_write`, for all agents that are called through `ctx`. */
export function apply(ctx: Context, config?: Partial<Config>): void {
  const { allowParallelInProgress = false } = config ?? {}
  const tool: ToolDefinition<{ readonly todos: readonly Todo[] }> = {
    name: 'todo_write',
    description: description(allowParallelInProgress),
    parameters: PARAMETERS,
    execute({ todos }, { agent }) {
      const session = sessionOf(agent)
      const list = checkedList(todos, allowParallelInProgress)
      session.append('todo/write', { todos: list })
      return listText(list)
    },
  }
  ctx.tools.register(tool)
}

/** The list that the model wrote last, as the log has it; empty before the first. */
export function todosOf({ events }: Pick<Session, 'events'>): readonly Todo[] {
  const last = events.findLast((event): event is SessionEvent<'todo/write'> => event.type === 'todo/write')
  return last?.data.todos ?? []
}

/** An agent of the loop has a session; the pipeline does not ask for one. */
function sessionOf(agent: (ToolAgent & { readonly session?: Session }) | undefined): Session {
  if (agent?.session !== undefined) return agent.session
  throw badTodo('todo_write needs an agent with a session: the list is kept in its log')
}
