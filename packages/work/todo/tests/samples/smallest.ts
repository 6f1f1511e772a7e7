import { createHarness, type Harness } from '@loopguard/testkit'
import * as todo from '@loopguard/todo'

/** A host with a scripted model that writes a list, and answers. */
export const harness: Harness = await createHarness({
  plugins: [todo],
  script: [
    {
      calls: [
        {
          name: 'todo_write',
          arguments: {
            todos: [
              { content: 'Read the brief', status: 'completed' },
              { content: 'Write the code', status: 'in_progress' },
              { content: 'Test it', status: 'pending' },
            ],
          },
        },
      ],
    },
    { text: 'I am on it.' },
  ],
})

const agent = harness.agent()
await harness.say(agent, 'Go.')
console.log(todo.todosOf(agent.session)) // the list, as the log has it
