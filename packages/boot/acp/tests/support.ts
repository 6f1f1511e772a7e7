import { PassThrough, Readable, Transform, Writable } from 'node:stream'
import type { Context } from '@deepseek-ai/cordis'
import {
  client,
  type ClientConnection,
  type ClientContext,
  methods,
  ndJsonStream,
  type PromptResponse,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import * as acp from '@loopguard/acp'
import type { Agent } from '@loopguard/agent-loop'
import { SessionId } from '@loopguard/llm'
import type { SessionEvent } from '@loopguard/session'
import { createHarness, type Harness, type HarnessOptions } from '@loopguard/testkit'
import type { ToolDefinition } from '@loopguard/tools'
import { onTestFinished } from 'vitest'

/** What goes over the wire, one message a line. */
export type Frame = Readonly<Record<string, unknown>>

export interface HostOptions extends HarnessOptions {
  readonly deltas?: boolean
  readonly config?: object
  /** What the client answers when it is asked. Default: to cancel. */
  readonly permission?: (
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ) => RequestPermissionResponse | Promise<RequestPermissionResponse>
  /** Mounted behind the plugin under test. */
  readonly behind?: HarnessOptions['plugins']
}

export interface Host {
  readonly harness: Harness
  readonly ctx: Context
  readonly connection: ClientConnection
  /** The client's side: the library's own class. */
  readonly acp: ClientContext
  /** What the agent has sent, as it was on the wire. */
  readonly frames: readonly Frame[]
  readonly input: PassThrough
  readonly output: Transform
  /** Opens a session, and returns its id. */
  readonly open: (cwd?: string) => Promise<string>
  readonly prompt: (sessionId: string, words: string) => Promise<PromptResponse>
  readonly cancel: (sessionId: string) => Promise<void>
  readonly agent: (sessionId: string) => Agent
  readonly updates: () => SessionUpdate[]
}

/** A whole host with the plugin, in this process, and the library's client at the other end of its wire. */
export async function host({ deltas, config, permission, behind = [], plugins = [], ...options }: HostOptions = {}): Promise<Host> {
  const { input, output, frames } = wireWithTap()
  const wire = { name: 'wire', apply: (ctx: Context) => void ctx.provide('acpWire', { input, output, deltas }) }
  const row = [acp, { provider: 'scripted', model: 'm', ...config }] as const
  const harness = await createHarness({ ...options, plugins: [...plugins, wire, row, ...behind] })
  const connection = client({ name: 'test' })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) =>
      permission === undefined ? { outcome: { outcome: 'cancelled' } } : permission(params, signal),
    )
    .onNotification(methods.client.session.update, () => {})
    .connect(ndJsonStream(Writable.toWeb(input) as WritableStream<Uint8Array>, Readable.toWeb(output) as ReadableStream<Uint8Array>))
  onTestFinished(async () => {
    await harness.dispose()
    connection.close()
  })
  await connection.agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
  const agentOf = (id: string): Agent => harness.ctx.agentLoop.get(SessionId(id)) as Agent
  return {
    harness,
    ctx: harness.ctx,
    connection,
    acp: connection.agent,
    frames,
    input,
    output,
    open: async (cwd = process.cwd()) => (await connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId,
    prompt: (sessionId, words) =>
      connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: words }] }),
    cancel: (sessionId) => connection.agent.notify(methods.agent.session.cancel, { sessionId }),
    agent: agentOf,
    updates: () => updatesIn(frames),
  }
}

export function wireWithTap(): { input: PassThrough; output: Transform; frames: Frame[] } {
  const frames: Frame[] = []
  let rest = ''
  const output = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) frames.push(JSON.parse(line) as Frame)
      done(null, chunk)
    },
  })
  return { input: new PassThrough(), output, frames }
}

export function updatesIn(frames: readonly Frame[]): SessionUpdate[] {
  return frames.flatMap(({ method, params }) =>
    method === 'session/update' ? [(params as { readonly update: SessionUpdate }).update] : [],
  )
}

const VERBS = { agent_message_chunk: 'says', agent_thought_chunk: 'thinks', user_message_chunk: 'user' } as const

/** Updates as lines that a test can compare whole. */
export function told(updates: readonly SessionUpdate[]): string[] {
  return updates.map((update) => {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk':
      case 'user_message_chunk': {
        const { content, _meta } = update
        const meta = (_meta?.['loopguard'] ?? {}) as { readonly kind?: string; readonly plugin?: string; readonly callId?: string }
        const by = meta.kind === undefined ? '' : ` (${[meta.kind, meta.plugin, meta.callId].filter(Boolean).join(' ')})`
        return `${VERBS[update.sessionUpdate]}${by}: ${content.type === 'text' ? content.text : content.type}`
      }
      case 'tool_call':
        return `call ${update.toolCallId} ${update.status}: ${update.title}`
      case 'tool_call_update': {
        const error = (update._meta?.['loopguard'] as { readonly error?: { readonly code: string } } | undefined)?.error
        const words = update.content?.map((each) =>
          each.type === 'content' && each.content.type === 'text' ? each.content.text : each.type,
        )
        return `call ${update.toolCallId} ${update.status}${error === undefined ? '' : ` ${error.code}`}${words === undefined ? '' : `: ${words.join('')}`}`
      }
      default:
        return update.sessionUpdate
    }
  })
}

export function tool(name: string, execute: ToolDefinition['execute'], more: Partial<ToolDefinition> = {}): ToolDefinition {
  return { name, description: name, parameters: {}, execute, ...more }
}

/** A tool that tells when it runs, and ends when its signal aborts, after `lingerMs`. */
export function waits(name: string, started: () => void, ended: () => void = () => {}): ToolDefinition {
  return tool(name, (_args, { signal }) => {
    started()
    return new Promise<string>((_resolve, reject) =>
      signal.addEventListener(
        'abort',
        () => {
          ended()
          reject(signal.reason as Error)
        },
        { once: true },
      ),
    )
  })
}

export const typesOf = (events: readonly SessionEvent[]): string[] => events.map(({ type }) => type)

export function turnEnds(agent: Agent): unknown[] {
  return agent.session.events.flatMap(({ type, data }) => (type === 'turn/end' ? [data.reason.kind] : []))
}

/** What a request was refused with. */
export async function refusal(request: Promise<unknown>): Promise<{ code: number; message: string; data: unknown }> {
  try {
    await request
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data: unknown }
    return { code, message, data }
  }
  throw new Error('it was not refused')
}

/** Settles when the condition holds; fails with the words after a minute. */
export async function until(condition: () => boolean, words: string): Promise<void> {
  for (const end = performance.now() + 60_000; !condition(); await new Promise((resolve) => setImmediate(resolve))) {
    if (performance.now() > end) throw new Error(`in vain: ${words}`)
  }
}
