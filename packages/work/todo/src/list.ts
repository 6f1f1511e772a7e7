import { HarnessError, show } from '@loopguard/kit'

/** How far an item is. */
export type TodoStatus = 'pending' | 'in_progress' | 'completed'

/** One thing to do. `content` has no white space around it, is not empty, and stands in the list once. */
export interface Todo {
  readonly content: string
  readonly status: TodoStatus
}

/** A list that cannot be; the message names the item. */
export const badTodo = (message: string): HarnessError => new HarnessError(message, 'BAD_TODO')

/**
 * The list as it is logged: each content trimmed.
 * @throws HarnessError `BAD_TODO` for a blank content, for one that stands there twice, and for a second `in_progress` unless that is allowed.
 */
export function checkedList(todos: readonly Todo[], allowParallelInProgress: boolean): Todo[] {
  const at = new Map<string, number>()
  let current: number | undefined
  return todos.map((item, index) => {
    const content = item.content.trim()
    if (content === '') throw badTodo(`todos[${index}].content is blank: say what there is to do`)
    const first = at.get(content)
    if (first !== undefined) {
      throw badTodo(`todos[${index}].content says the same as todos[${first}]: ${show(content)}; each item must be unique`)
    }
    at.set(content, index)
    if (item.status === 'in_progress' && !allowParallelInProgress) {
      if (current !== undefined) {
        throw badTodo(`todos[${index}] is in_progress, and so is todos[${current}]: only one item may be; the others are pending`)
      }
      current = index
    }
    return { content, status: item.status }
  })
}

const MARKS: Readonly<Record<TodoStatus, string>> = { completed: '[x]', in_progress: '[>]', pending: '[ ]' }

/** What the model reads: the counts, then the list, one line an item. */
export function listText(todos: readonly Todo[]): string {
  const count = (status: TodoStatus): number => todos.filter((item) => item.status === status).length
  const counts = `${count('completed')} completed, ${count('in_progress')} in progress, ${count('pending')} pending`
  const lines = todos.map(({ content, status }) => `${MARKS[status]} ${content.replaceAll(/\s*[\r\n\u2028\u2029]\s*/g, ' ')}`)
  return [`${todos.length} ${todos.length === 1 ? 'todo' : 'todos'}: ${counts}`, ...lines].join('\n')
}
