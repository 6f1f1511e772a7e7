import { readdir, readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { LlmError } from '@loopguard/llm'
import { createHarness, gate, ScriptedModel, userMessage, watchContexts } from '@loopguard/testkit'
import { ask } from './samples/ask.ts'
import * as desk from './samples/desk.ts'
import * as retry from './samples/retry.ts'
import { story } from './support/story.ts'
import { tool } from './support/tools.ts'

afterAll(watchContexts())

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

const sources = async (folder: string): Promise<string[]> => {
  const url = new URL(folder, import.meta.url)
  return Promise.all((await readdir(url)).map((file) => readFile(new URL(file, url), 'utf8')))
}

it('the table of errors holds every code that the sources give', async () => {
  const given = new Set(
    (await sources('../src/')).flatMap((source) => [...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code]) => code)),
  )
  given.add('CANCELLED')
  // Of @loopguard/session.
  given.delete('SESSION_NOT_FOUND')
  const errors = readme.slice(readme.indexOf('## Errors'), readme.indexOf('## Known limitations'))
  expect(new Set([...errors.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code))).toEqual(given)
})

it('the table of the config holds every key', async () => {
  const config = readme.slice(readme.indexOf('## Config'), readme.indexOf('## Errors'))
  expect([...config.matchAll(/^\| `(\w+)` /gm)].map(([, key]) => key)).toEqual(['maxParallelToolCalls', 'abandonAfterMs', 'agents'])
})

describe('the samples', () => {
  it('ask: what the model says in the end', async () => {
    const model = new ScriptedModel([{ calls: [{ name: 'clock', arguments: {} }] }, { text: 'It is noon.' }])
    expect(
      await ask(
        model,
        tool('clock', () => '12:00'),
        'What time is it?',
      ),
    ).toBe('It is noon.')
    expect(model.requests[0]?.system).toBe('Be brief.')
  })

  it('desk: rejects, adds and asks once', async () => {
    let open = true
    await using harness = await createHarness({
      script: [{ text: 'Done.' }, { text: 'It is.' }, { text: 'Again.' }],
      plugins: [[desk, { today: () => 'Monday', isOpen: () => open }]],
    })
    const agent = harness.agent()
    await harness.say(agent, 'Tidy up.')
    await harness.say(agent, 'And now?')
    open = false
    await harness.say(agent, 'Late?')
    expect(story(agent.session).filter((line) => /^(user|model|end \d )/.test(line))).toEqual([
      'user Today is Monday.',
      'user Tidy up.',
      'model Done.',
      'user Is that all that was asked?',
      'model It is.',
      'end 1 completed',
      'user Today is Monday.',
      'user And now?',
      'model Again.',
      'end 2 completed',
      'end 3 blocked',
    ])
  })

  it('retry: waits as long as the provider wishes, and no longer than the turn', async () => {
    const busy = () => {
      throw new LlmError('busy', 'BUSY', { status: 429, retryAfterMs: 20 })
    }
    await using harness = await createHarness({ script: [busy, { text: 'ok' }], plugins: [retry] })
    const agent = harness.agent()
    await harness.say(agent, 'hi')
    expect(story(agent.session).at(-1)).toBe('end 1 completed')

    const asked = gate()
    harness.model.push(() => {
      asked.open()
      throw new LlmError('busy', 'BUSY', { status: 429, retryAfterMs: 2_000_000_000 })
    })
    agent.followup(userMessage('again'))
    await asked.opened
    agent.cancel()
    await agent.whenIdle()
    expect(story(agent.session).at(-1)).toBe('end 2 aborted by user')
  })
})
