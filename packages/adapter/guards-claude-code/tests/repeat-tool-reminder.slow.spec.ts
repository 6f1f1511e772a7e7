import { type HookEvent, repeatToolReminder } from '@loopguard/guards-claude-code'
import { isReminder } from '@loopguard/repeat'
import { describe, expect, it } from 'vitest'
import { run } from '../src/run.ts'
import { batch, emptyFolder, end, look, prompt, turned } from './support/events.ts'

type Send = (event: HookEvent) => Promise<string | undefined>

/** The two forms of the hook, which have to come to the same. What is returned is what the model reads. */
const forms = [
  [
    'the callback',
    (config: object): Send => {
      const hooks = repeatToolReminder(config)
      return async (event) => {
        const [matcher] = hooks[event.hook_event_name as keyof typeof hooks]
        return (await matcher?.hooks[0]?.(event))?.hookSpecificOutput?.additionalContext
      }
    },
  ],
  [
    'the command',
    (config: object): Send => {
      const folder = emptyFolder()
      return async (event) => {
        const output = run(['--config', JSON.stringify(config), '--state', folder], JSON.stringify(event), {})
        if (output === '') return undefined
        const { hookSpecificOutput } = JSON.parse(output) as { hookSpecificOutput: { hookEventName: string; additionalContext: string } }
        // Claude Code drops what names another event.
        if (hookSpecificOutput.hookEventName !== event.hook_event_name) return undefined
        return hookSpecificOutput.additionalContext
      }
    },
  ],
] as const

describe.each(forms)('%s', (_form, start) => {
  async function said(events: readonly HookEvent[], config: object = {}): Promise<boolean[]> {
    const send = start(config)
    const found: boolean[] = []
    for (const event of events) found.push((await send(event)) !== undefined)
    return found
  }
  const numbersOf = (found: readonly boolean[]): number[] => found.flatMap((isSaid, index) => (isSaid ? [index + 1] : []))

  it('reminds at the third, fifth and eighth equal call, in whatever order the keys are', async () => {
    const events = Array.from({ length: 10 }, (_, index) => batch([index % 2 === 0 ? look : turned]))
    expect(numbersOf(await said(events))).toEqual([3, 5, 8])
  })

  it('counts each call of a batch, and says what is due once, after the batch', async () => {
    const send = start({ thresholds: [2, 3] })
    const text = await send(batch([look, look, look]))
    expect(text?.split('\n\n').map(isReminder)).toEqual([true, true])
    expect(await send(batch([look, look]))).toBeUndefined()
  })

  it('begins anew with a prompt of the user, and only there', async () => {
    expect(await said([batch(), batch(), prompt(), batch(), batch(), batch()])).toEqual([false, false, false, false, false, true])
  })

  it('counts a sub-agent for itself, and a prompt of the user does not end its run', async () => {
    const sub = { agent_id: 'sub' }
    const events = [batch(), batch([look], sub), batch(), batch([look], sub), prompt(), batch([look], sub), batch()]
    expect(numbersOf(await said(events))).toEqual([6])
  })

  it('counts each session for itself, and forgets all agents of one that ends', async () => {
    const [other, sub] = [{ session_id: 't' }, { agent_id: 'sub' }]
    const before = [batch(), batch(), batch([look], other), batch([look], other), batch([look], sub), batch([look], sub)]
    expect(numbersOf(await said([...before, end(), batch(), batch([look], sub), batch([look], other)]))).toEqual([10])
  })

  it('takes a first batch of excluded tools, and one without calls', async () => {
    const config = { exclude: ['Todo*'], thresholds: [2] }
    const todo = { tool_name: 'TodoWrite', tool_input: {} }
    expect(await said([batch([todo]), batch([]), batch(), batch([todo]), batch()], config)).toEqual([false, false, false, false, true])
  })

  it('counts a call on, under `unchanged`, only while its result stays the same', async () => {
    const config = { results: 'unchanged' }
    const answers = (...texts: unknown[]): HookEvent[] => texts.map((text) => batch([{ ...look, tool_response: text }]))
    expect(numbersOf(await said(answers('line 1', 'line 2', 'line 3', 'line 4'), config))).toEqual([])
    expect(numbersOf(await said(answers({ a: 1 }, { a: 1 }, { a: 1 }), config))).toEqual([3])
    expect(numbersOf(await said([batch(), batch(), batch()], config))).toEqual([3])
  })

  it('names tool, run and arguments in its later texts', async () => {
    const send = start({ thresholds: [2, 3] })
    await send(batch([look, look]))
    expect(await send(batch())).toMatch(
      /^Loop warning: .*\n- tool: Read\n- consecutive_calls: 3\n- arguments: \{"file_path":"a.txt","limit":5\}\n/,
    )
  })

  it('refuses a faulty configuration', async () => {
    const attempt = async (): Promise<unknown> => start({ thresholds: [1] })(batch())
    await expect(attempt()).rejects.toThrow(expect.objectContaining({ code: 'REPEAT_TOOL_REMINDER_CONFIG' }) as Error)
  })
})
