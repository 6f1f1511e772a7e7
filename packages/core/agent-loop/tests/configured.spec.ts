import { describe, expect, it } from 'vitest'
import { createHarness, userMessage } from '@loopguard/testkit'
import { SessionId } from '@loopguard/llm'
import { eventsOf, fileHost, temporaryDirectory } from './support/host.ts'
import { story } from './support/story.ts'

const row = { id: 'a', provider: 'scripted', model: 'scripted' }

describe('the agents of the configuration', () => {
  it('are made when the loop starts, in order, with the options of their rows; prompts are for whoever runs the composition', async () => {
    await using harness = await createHarness({
      loop: {
        agents: [
          { ...row, system: 'be kind', maxTokens: 7, prompt: 'go' },
          { ...row, id: 'b' },
        ],
      },
    })
    const { agentLoop } = harness.ctx
    expect(agentLoop.list().map(({ id, options, status, session }) => [id, options, status, story(session)])).toEqual([
      ['a', { provider: 'scripted', model: 'scripted', system: 'be kind', maxTokens: 7 }, 'idle', []],
      ['b', { provider: 'scripted', model: 'scripted' }, 'idle', []],
    ])
    expect(agentLoop.prompts().map(({ agent, prompt }) => [agent === agentLoop.list()[0], prompt])).toEqual([[true, 'go']])
    const other = agentLoop.create(SessionId('c'), row)
    expect(agentLoop.list()).toContain(other)
    expect(agentLoop.configured().map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('go with the loop', async () => {
    const harness = await createHarness({ loop: { agents: [row] } })
    const [agent] = harness.ctx.agentLoop.list()
    await harness.dispose()
    expect(agent?.session.closed).toBe(true)
  })

  it('with a directory, a row whose log exists is resumed', async () => {
    await using directory = await temporaryDirectory()
    for (const turn of [1, 2, 3]) {
      await using host = await fileHost({ directory: directory.path, script: [{ text: 'ok' }], loop: { agents: [row] } })
      const agent = host.ctx.agentLoop.get(SessionId('a'))!
      agent.followup(userMessage(`turn ${turn}`))
      await agent.whenIdle()
    }
    const log = await eventsOf(directory.path, 'a')
    expect(story({ events: log }).filter((line) => /^end \d /.test(line))).toEqual([
      'end 1 completed',
      'end 2 completed',
      'end 3 completed',
    ])
  })

  it('a row whose log another process or host holds stops the loop from starting, and says so', async () => {
    await using directory = await temporaryDirectory()
    await using _first = await fileHost({ directory: directory.path, loop: { agents: [row] } })
    await expect(fileHost({ directory: directory.path, loop: { agents: [row] } })).rejects.toMatchObject({ code: 'SESSION_OPEN' })
  })

  it('a second row of the same id stops the loop from starting, and takes the first one with it', async () => {
    await using directory = await temporaryDirectory()
    await expect(fileHost({ directory: directory.path, loop: { agents: [row, row] } })).rejects.toMatchObject({ code: 'AGENT_EXISTS' })
    await using _again = await fileHost({ directory: directory.path, loop: { agents: [row] } })
  })

  it.each<[object, string]>([
    [{ agents: [row, { ...row, promt: 'x' }] }, '`promt`, did you mean `prompt`? (at agents.1)'],
    [{ agents: [{ id: 'a', provider: 'p' }] }, 'model'],
    [{ agents: [{ ...row, maxTokens: 0 }] }, 'maxTokens'],
    [{ agents: [{ ...row, maxTokens: 2 ** 53 }] }, 'maxTokens'],
    [{ maxParallelToolCalls: 2 ** 53 }, 'maxParallelToolCalls'],
    [{ abandonAfterMs: 0 }, 'abandonAfterMs'],
    [{ abandonAfterMs: 2 ** 31 }, 'abandonAfterMs'],
    [{ agents: [{ ...row, prompt: null }] }, '`prompt` is null'],
    [{ agents: [{ ...row, id: ' ' }] }, 'id'],
    [{ agents: [row, null] }, 'agents.1'],
    [{ agents: ['a'] }, 'agents.0'],
    [{ agents: 'a' }, 'agents'],
    [{ maxParallelToolCalls: 0 }, 'maxParallelToolCalls'],
    [{ maxParallelToolCalls: 1.5 }, 'maxParallelToolCalls'],
    [{ maxParalelToolCalls: 2 }, '`maxParalelToolCalls`, did you mean `maxParallelToolCalls`?'],
  ])('%j is refused at load', async (loop, message) => {
    const refused = await createHarness({ loop: loop as never }).then(
      () => 'it started',
      (error: unknown) => String(error),
    )
    expect(refused).toContain(message)
  })
})
