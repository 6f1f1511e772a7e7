import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { Config, ToolsConfig } from '../src/config.ts'
import { noticeOf } from '../src/notice.ts'
import * as countdown from './samples/countdown.ts'
import { call, jobsHost, makes, story, textOf } from './support.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

const sources = async (folder: string): Promise<string[]> => {
  const url = new URL(folder, import.meta.url)
  return Promise.all((await readdir(url)).map((file) => readFile(new URL(file, url), 'utf8')))
}
const section = (title: string): string => readme.slice(readme.indexOf(`## ${title}`)).split('\n## ')[0] ?? ''

it('the table of errors holds every code that the sources give', async () => {
  const given = (await sources('../src/')).flatMap((source) => [...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code]) => code))
  // Of @loopguard/agent-loop.
  const own = new Set(given.filter((code) => code !== 'AGENT_DISPOSED'))
  expect(new Set([...section('Errors').matchAll(/^\| `(\w+)` /gm)].map(([, code]) => code))).toEqual(own)
})

it('the tables of the config hold every key and its default', () => {
  const rows = [...section('Config').matchAll(/^\| `(\w+)` \| `(\d+)` /gm)].map(([, key, value]) => [key, Number(value)])
  const defaultsOf = (schema: { readonly '~standard': { readonly validate: (value: unknown) => unknown } }): object =>
    (schema['~standard'].validate({}) as { readonly value: object }).value
  expect(Object.fromEntries(rows)).toEqual({ ...defaultsOf(Config), ...defaultsOf(ToolsConfig) })
})

it('what the model reads stands there, to the letter', async () => {
  const { ctx } = await jobsHost()
  const texts = ctx.tools.schemas().map(({ description }) => description)
  const notice = noticeOf({ id: 'bash-1', kind: 'bash', label: 'npm run build', status: 'completed', detail: 'exit code: 0' })
  for (const text of [...texts, textOf(notice)]) expect(readme).toContain(`\`\`\`text\n${text}\n\`\`\`\n`)
})

describe('the sample', () => {
  it('counts in the background, and its end is told', async () => {
    const harness = await jobsHost({
      script: [
        makes(['countdown', { from: 2 }]),
        { text: 'it counts' },
        makes(['job_output', { job_id: 'countdown-1' }]),
        { text: 'done' },
      ],
      plugins: [[countdown, { everyMs: 5 }]],
    })
    const agent = harness.agent()
    await harness.say(agent, 'count')
    await harness.ctx.jobs.whenIdle()
    await agent.whenIdle()
    expect(story(agent).filter((line) => /^(result|told)/.test(line))).toEqual([
      'result: started background job countdown-1',
      'told: countdown-1 completed',
      'result: 2\n1\n0\n[status: completed]',
    ])
  })

  it('is killed when it is asked to end', async () => {
    const harness = await jobsHost({ plugins: [countdown] })
    const agent = harness.agent()
    await call(harness, 'countdown', { from: 100 }, { agent })
    await call(harness, 'job_kill', { job_id: 'countdown-1' }, { agent })
    expect((await harness.ctx.jobs.wait(agent, 'countdown-1')).status).toBe('killed')
  })
})
