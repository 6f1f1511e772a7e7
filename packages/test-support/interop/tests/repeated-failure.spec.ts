import * as published from '@deepseek-ai/dsh-repeat-tool-reminder'
import * as repeatToolReminder from '@loopguard/repeat-tool-reminder'
import * as repeatedFailureReminder from '@loopguard/repeated-failure-reminder'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Agent, Call, Host, Message, MountedHost } from '../src/host.ts'

const HOSTS = ['deepseek-harness', 'cordis-rc10', 'loopguard']
const fails: Call = { name: 'fails', arguments: { b: 1, a: 2 } }
const other: Call = { name: 'other', arguments: {} }

async function mounted(driver: string, ...plugins: readonly object[]): Promise<{ readonly host: MountedHost; readonly agent: Agent }> {
  const { host: maker } = (await import(`../src/hosts/${driver}.ts`)) as { host: Host }
  const host = await maker.mount()
  onTestFinished(() => host.dispose())
  for (const plugin of plugins) await host.plug(plugin, {})
  let run = 0
  host.tool({
    name: 'fails',
    run: () => {
      throw new Error(`no such file (line ${++run})`)
    },
  })
  host.tool({ name: 'other', run: () => 'fine' })
  return { host, agent: await host.agent('one') }
}

/** Which plugin speaks after each of these calls. */
async function speakers(host: MountedHost, agent: Agent, calls: readonly Call[]): Promise<string[]> {
  const said: string[] = []
  for (const call of calls) {
    const { additionalContexts = [] } = await host.call(call, { agent })
    said.push(additionalContexts.map(({ source }: Message) => source.plugin ?? '?').join(' '))
  }
  return said
}

describe.each(HOSTS)('in %s', (driver) => {
  it('the third failure of a call with the same error brings the reminder, also with other calls between', async () => {
    const { host, agent } = await mounted(driver, repeatedFailureReminder)
    const { additionalContexts: none } = await host.call(fails, { agent })
    expect(await speakers(host, agent, [other, fails, other])).toEqual(['', '', ''])
    const { content, additionalContexts: [reminder] = [] } = await host.call(fails, { agent })
    expect(none ?? []).toEqual([])
    expect(content[0]?.text).toContain('no such file (line 3)')
    expect(reminder?.source).toEqual({ kind: 'plugin', plugin: 'repeated-failure-reminder' })
    expect(reminder?.content[0]?.text).toMatch(
      /^This call has failed 3 times .*\n- tool: fails\n- arguments: \{"a":2,"b":1\}\n- error: .*no such file \(line 3\)/,
    )
  })

  it.each([
    ['our reminder of repeated calls', repeatToolReminder],
    ['the published one', published],
  ])('is silent while %s speaks of that call', async (_title, reminder) => {
    const { host, agent } = await mounted(driver, reminder, repeatedFailureReminder)
    const said = await speakers(host, agent, [fails, fails, fails, other, fails, other, fails])
    expect(said).toEqual(['', '', 'repeat-tool-reminder', '', '', '', 'repeated-failure-reminder'])
  })
})
