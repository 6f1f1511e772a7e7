import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type { Session, SessionEvent } from '@loopguard/session'
import type {} from '@loopguard/tools'
import type {} from './index.ts'

const plugin: Companion = companion({
  name: 'todo-invariant',
  packageName: '@loopguard/todo',
  inject: ['tools'],
  install(ctx, fail) {
    const { tools } = ctx
    onDispatch(ctx, {
      'session/event': (args) => {
        const [session, { type, data }] = args as [Session, SessionEvent]
        if (type !== 'todo/write') return
        const calls = [...tools.running()].filter(
          ({ name: tool, agent }) => tool === 'todo_write' && (agent as { readonly session?: Session } | undefined)?.session === session,
        )
        const logged = JSON.stringify(data)
        if (calls.some((exec) => asWritten(exec.arguments) === logged)) return
        fail(`session "${session.id}": todo/write holds ${calls.length === 0 ? 'a list that no call wrote' : 'another list than its call'}`)
      },
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that each list in the log is the one that a running `todo_write` of that agent was called with. A violation refuses the event. */
export const apply: Companion['apply'] = plugin.apply

/** What the log should hold of these arguments; written anew, not with the code that it checks. */
function asWritten(args: unknown): string | undefined {
  const { todos } = Object(args) as { readonly todos?: readonly { readonly content: string; readonly status: string }[] }
  if (!Array.isArray(todos)) return undefined
  return JSON.stringify({ todos: todos.map(({ content, status }) => ({ content: content.trim(), status })) })
}
