import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Context, type Plugin } from '@deepseek-ai/cordis'
import { CallId } from '@loopguard/llm'
import * as timeoutPolicy from '@loopguard/timeout-policy'
import ToolRuntime, { type ToolDefinition } from '@loopguard/tools'
import { watchContexts } from '@loopguard/testkit'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as bad from '../docs/samples/bad-tool.ts'
import { retryInside, retryOutside } from '../docs/samples/composition-order.ts'
import * as good from '../docs/samples/good-tool.ts'
import * as long from '../docs/samples/long-tool.ts'
import remindPi from '../docs/samples/pi.ts'
import { happenings } from '../docs/samples/troubleshooting.ts'
import { docs, read } from './support/docs.ts'

afterAll(watchContexts())

it('every sample on a page is a file of docs/samples, to the letter, and each file but that of the troubleshooting is shown', async () => {
  // The samples of the adapters need their SDKs, and run in their packages.
  const pages = (await docs()).filter(({ path }) => !path.startsWith('docs/other-loops/'))
  const blocks = pages.flatMap(({ text }) => [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code))
  const samples = new URL('../docs/samples/', import.meta.url)
  const names = (await readdir(samples)).filter((name) => name !== 'troubleshooting.ts')
  const files = await Promise.all(names.map((name) => readFile(new URL(name, samples), 'utf8')))
  expect(new Set(blocks)).toEqual(new Set(files))
})

it('getting started: the program prints what is on the page', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  await import('../docs/samples/getting-started.ts')
  const page = await read('docs/getting-started.md')
  const [, shown] = /```text\n(.*?)```/s.exec(page) ?? []
  expect(log.mock.calls.map(([line]) => `${String(line)}\n`).join('')).toBe(shown)
})

it('other loops: the extension reminds pi at the third equal call', () => {
  let send: (event: { messages: never[] }) => unknown = () => undefined
  remindPi({ on: (_event, listener) => (send = listener as typeof send) })
  const step = [
    { role: 'assistant', content: [{ type: 'toolCall', name: 'look', arguments: { path: 'a' } }], timestamp: 1 },
    { role: 'toolResult', content: [{ type: 'text', text: 'same' }], timestamp: 2 },
  ]
  const messages = [{ role: 'user', content: 'go', timestamp: 0 }, ...step, ...step, ...step] as never[]
  const sent = send({ messages }) as { messages: { role: string; content: unknown }[] }
  expect(sent.messages.slice(0, -1)).toEqual(messages)
  expect(sent.messages.at(-1)?.content).toEqual([{ type: 'text', text: expect.stringMatching(/^You are repeating/) as string }])
  expect(send(sent as never)).toEqual(sent)
})

it('composition: what each order comes to is what the page says', async () => {
  const page = await read('docs/composition.md')
  expect(page).toContain(`\`${await retryOutside()}\``)
  expect(page).toContain(`\`${await retryInside()}\``)
})

describe('writing tools', () => {
  /** Answers when told to; says when a connection was closed before that. */
  async function slowServer() {
    let answer = (): void => {}
    let ask = (): void => {}
    const asked = new Promise<void>((resolve) => (ask = resolve))
    let closed = (): void => {}
    const gone = new Promise<void>((resolve) => (closed = resolve))
    const server = createServer((request, response) => {
      if (request.url === '/warm') return void response.end()
      answer = () => response.end('a page')
      ask()
      response.on('close', () => !response.writableFinished && closed())
    }).listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    // The first fetch of a process loads the client, which may take longer than the budget of the tool.
    await (await fetch(`${url}warm`)).text()
    return { url, answer: () => answer(), asked, gone }
  }

  async function callOf(name: string, args: object, plugin: Plugin) {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await ctx.plugin(ToolRuntime)
    await ctx.plugin(timeoutPolicy)
    await ctx.plugin(plugin)
    const { signal } = new AbortController()
    return ctx.tools.execute({ callId: CallId('1'), name, arguments: args, signal })
  }

  function fetchWith(tool: ToolDefinition<{ url: string }>, url: string) {
    return callOf('fetch_page', { url }, { name: 'pages', inject: ['tools'], apply: (ctx: Context) => void ctx.tools.register(tool) })
  }

  const timedOut = [{ type: 'text', text: 'Error: tool call timed out after 100ms' }]

  it('the good tool ends with its budget, and the server sees the connection close', async () => {
    const server = await slowServer()
    expect((await fetchWith(good.fetchPage, server.url)).content).toEqual(timedOut)
    await server.gone
  })

  it('the bad tool ends with the same text, but not before the server has answered', async () => {
    const server = await slowServer()
    let ended = false
    const call = fetchWith(bad.fetchPage, server.url).finally(() => (ended = true))
    await server.asked
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(ended).toBe(false)
    server.answer()
    expect((await call).content).toEqual(timedOut)
  })

  it('the tool that computes ends with its budget, and counts right within it', async () => {
    expect((await callOf('count_primes', { below: 10_000_000 }, long)).content).toEqual(timedOut)
    expect((await callOf('count_primes', { below: 100 }, long)).content).toEqual([{ type: 'text', text: '25 primes' }])
  })
})

it('troubleshooting: each heading is what is said when it happens, to the letter', async () => {
  const page = await read('docs/troubleshooting.md')
  const headings = [...page.matchAll(/^## `` ?(.+?) ?``$/gm)].map(([, message]) => message)
  const said = await Promise.all(Object.values(happenings).map((happen) => happen()))
  const wanted = headings.filter((heading) => heading !== undefined)
  expect(said.filter((message) => !wanted.some((heading) => message.includes(heading)))).toEqual([])
  expect(wanted).toHaveLength(said.length)
})
