import { Agent, MemorySession, type ModelRequest, tool } from '@openai/agents-core'
import { ScriptedModel } from '@openai/agents-core/testing'
import { repeatToolReminder, timeLimited } from '@loopguard/guards-openai-agents'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { agentOf, type Call, look, remindersIn, scripted, type Step, turned } from './support.ts'

const lookTool = tool({
  name: 'look',
  description: '',
  parameters: z.object({ path: z.string(), line: z.number() }),
  execute: () => 'the same',
})
const noteTool = tool({ name: 'note', description: '', parameters: z.object({}), execute: () => 'noted' })

function watchWarnings() {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  return warn
}

it.each(['run', 'stream'] as const)('reminds at the third and fifth equal call, and times a hanging tool out: %s', async (door) => {
  const hang = tool({
    name: 'hang',
    description: '',
    parameters: z.object({}),
    execute: timeLimited(
      (_input, _context, { signal }) =>
        new Promise<string>((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 30, 'late'))),
      100,
    ),
  })
  const script: Step[] = [[look()], [turned], [look()], [turned], [look()], [{ name: 'hang', args: {} }], 'done']
  const { requests, turn } = agentOf(script, [lookTool, hang])
  await turn({}, door)
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1, 1, 2, 2])
  expect(JSON.stringify(requests().at(-1))).toContain('tool call timed out after 100ms')
  expect(JSON.stringify(requests().at(-1))).not.toContain('late')
})

it('puts the reminder after the results of its step, as the last item, and keeps it there', async () => {
  const { requests, turn } = agentOf([[look(), look()], [look()], [look()], 'done'], [lookTool])
  await turn()
  const short = { message: 'user', function_call: 'call', function_call_result: 'result' } as Record<string, string>
  expect(requests().map((input) => (input as { type: string }[]).map(({ type }) => short[type]).join(' '))).toEqual([
    'user',
    'user call call result result',
    'user call call result result call result user',
    'user call call result result call result user call result',
  ])
})

it('counts each call of a batch: three, then two', async () => {
  const { requests, turn } = agentOf([[look(), look(), look()], [look(), look()], 'done'], [lookTool])
  await turn()
  expect(remindersIn(requests())).toEqual([0, 1, 2])
})

it.each([
  ['that fail', { name: 'broken', args: {} }],
  ['that the schema refuses', look({})],
  ['with arguments that are no JSON', look('{"path')],
])('counts calls %s', async (_what, call: Call) => {
  const broken = tool({
    name: 'broken',
    description: '',
    parameters: z.object({}),
    execute: () => {
      throw new Error('no')
    },
  })
  const { requests, turn } = agentOf([[call], [call], [call], 'done'], [lookTool, broken])
  await turn()
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1])
})

it('stores nothing: the session holds no reminder after two turns, and each turn begins anew', async () => {
  const session = new MemorySession()
  const { requests, turn } = agentOf([[look()], [look()], [look()], 'done', [look()], [look()], [look()], 'done'], [lookTool])
  await turn({ session })
  await turn({ session })
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1, 1, 1, 1, 2])
  const items = await session.getItems()
  expect(items).toHaveLength(16)
  expect(remindersIn([items])).toEqual([0])
})

it('warns once, and lets the request through, when the server keeps the conversation', async () => {
  const warn = watchWarnings()
  const { requests, turn } = agentOf([[look()], [look()], [look()], 'done'], [lookTool])
  await turn({ conversationId: 'conv_1' })
  expect(remindersIn(requests())).toEqual([0, 0, 0, 0])
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^@loopguard\/guards-openai-agents: .*no reminder/)]])
})

it('warns of a conversation that goes on from an earlier response too, and never of one that does not', async () => {
  const warn = watchWarnings()
  const request = { input: 'go', modelSettings: {}, tools: [], outputType: 'text', handoffs: [], tracing: false } as ModelRequest
  const model = repeatToolReminder()(scripted(['one', 'two', 'three']))
  await model.getResponse(request)
  expect(warn).not.toHaveBeenCalled()
  await model.getResponse({ ...request, previousResponseId: 'resp_1' })
  await model.getResponse({ ...request, previousResponseId: 'resp_2' })
  expect(warn).toHaveBeenCalledTimes(1)
})

it('keeps class, private fields and other members of the model', async () => {
  const model = scripted(['done'])
  const guarded = repeatToolReminder()(model)
  expect(guarded).toBeInstanceOf(ScriptedModel)
  expect(guarded.remainingSteps).toBe(1)
  expect(await guarded.getRetryAdvice({ error: new Error('no'), attempt: 1 } as never)).toBeUndefined()
})

it.each([
  ['computer', { type: 'computer_call', action: { type: 'click' } }, 'computer_call_result'],
  ['shell', { type: 'shell_call', action: { commands: ['ls'] } }, 'shell_call_output'],
  ['apply_patch', { type: 'apply_patch_call', operation: { path: 'a' } }, 'apply_patch_call_output'],
])('counts the calls of the tool %s of the SDK, and stands after their outputs', async (name, call, output) => {
  const model = scripted(['one', 'two'])
  const config = { thresholds: [3, 4] }
  const send = async (input: object[]): Promise<object[]> => {
    const rest = { modelSettings: {}, tools: [], outputType: 'text', handoffs: [], tracing: false }
    await repeatToolReminder(config)(model).getResponse({ ...rest, input } as never)
    return model.lastCall?.request.input as object[]
  }
  const [step, next] = [
    [call, call, call, { type: output }, { type: output }, { type: output }],
    [call, { type: output }],
  ]
  const sent = await send([...step, ...next])
  expect(sent).toEqual([...step, expect.objectContaining({ role: 'user' }), ...next, expect.objectContaining({ role: 'user' })])
  expect(sent.at(-1)).toHaveProperty('content', expect.stringContaining(`- tool: ${name}\n- consecutive_calls: 4`))
  expect(await send([{ type: 'message', role: 'assistant', content: [] }, ...step.slice(0, 3)])).toHaveLength(4)
})

it('begins anew with other commands of the shell', async () => {
  const model = scripted(['one'])
  const shell = (command: string): object[] => [{ type: 'shell_call', action: { commands: [command] } }, { type: 'shell_call_output' }]
  const input = [...shell('ls'), ...shell('ls'), ...shell('pwd')]
  await repeatToolReminder()(model).getResponse({
    input,
    modelSettings: {},
    tools: [],
    outputType: 'text',
    handoffs: [],
    tracing: false,
  } as never)
  expect(model.lastCall?.request.input).toEqual(input)
})

it('takes the configuration, and refuses a faulty one at once', async () => {
  const script = [[look()], [{ name: 'note', args: {} }], [look()], 'done'] as const
  const { requests, turn } = agentOf(script, [lookTool, noteTool], { thresholds: [2], exclude: ['note'] })
  await turn()
  expect(remindersIn(requests())).toEqual([0, 0, 0, 1])
  expect(() => repeatToolReminder({ thresholds: [1] })).toThrow(expect.objectContaining({ code: 'REPEAT_TOOL_REMINDER_CONFIG' }) as Error)
})

it('changes nothing of an input but its reminders, whatever its items hold', async () => {
  watchWarnings()
  const item = fc.record({
    type: fc.constantFrom('message', 'function_call', 'shell_call', 'reasoning'),
    role: fc.constantFrom('user', 'x'),
    content: fc.jsonValue(),
    arguments: fc.jsonValue(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 6 }), async (input) => {
      let seen: unknown
      const model = { getResponse: async (request: { input: unknown }) => (seen = request.input), getStreamedResponse: () => [] }
      await repeatToolReminder()(model).getResponse({ input })
      expect(seen).toEqual(input)
    }),
  )
})

it('refuses wrong arguments as it compiles', () => {
  const refused = (): void => {
    // @ts-expect-error -- a threshold is a number
    repeatToolReminder({ thresholds: ['3'] })
    // @ts-expect-error -- the name of a model is none: its provider makes one
    repeatToolReminder()('gpt')
    // @ts-expect-error -- milliseconds are a number
    timeLimited(() => 1, '5')
    void new Agent({ name: 'a', model: repeatToolReminder()(scripted([])) })
  }
  expect(refused).toBeTypeOf('function')
})
