/**
 * Plugin that plays a recorded conversation through the agent loop.
 * @packageDocumentation
 */

import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import type { Agent, AgentOptions } from '@loopguard/agent-loop'
import { codeOf, messageOf, strictConfig } from '@loopguard/kit'
import { SessionId } from '@loopguard/llm'
import { pathOf } from './path-of.ts'
import { Replay } from './replay.ts'
import { readTranscript } from './read/read-transcript.ts'

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** The booting command emits it when every row is active: work may begin. @mode emit */
    'loopguard/ready'(): void
  }
}

export interface Config {
  /** Also the id of the agent that this plugin makes. Default `replay`. */
  readonly provider: string
  /** The file to read, relative to the folder of the `cordis.yml`; `-` is standard input. */
  readonly transcript: string
  /** A regular expression (flag `m`): a result in which it finds something is that of a call that failed. `is_error` says so by itself. */
  readonly errors?: string
}

export const name = 'replay'

export const inject: string[] = ['llm', 'sessions', 'tools', 'agentLoop']

export const Config: z<Partial<Config>, Config> = strictConfig(
  name,
  z.object({ provider: z.string().default('replay'), transcript: z.string().required(), errors: z.string() }) as z<Partial<Config>, Config>,
  ['provider', 'transcript', 'errors'],
  { check: ({ errors }) => (typeof errors === 'string' ? faultsOfExpression(errors) : []) },
)

function faultsOfExpression(errors: string): string[] {
  try {
    new RegExp(errors, 'm')
    return []
  } catch (error) {
    return [`\`errors\` must be a regular expression: ${messageOf(error)}`]
  }
}

/**
 * Makes an agent for the transcript. With a loader it starts at `loopguard/ready`, when guards that are loaded later are there
 * too; without one, at once.
 * @throws TranscriptError for a transcript that cannot be read or is malformed.
 */
export function apply(ctx: Context, { provider, transcript: file, errors }: Config): void {
  const transcript = readTranscript(file === '-' ? file : pathOf(ctx, file, name, 'transcript'))
  const { system, model = 'recorded', notes = [] } = transcript
  for (const note of notes) ctx.logger(name).warn('%s', `${file === '-' ? 'standard input' : file}: ${note}`)
  const replay = new Replay(transcript, { errors: errors === undefined ? undefined : new RegExp(errors, 'm') })
  ctx.llm.registerAdapter([provider], replay)
  const agent = createAgent(ctx, provider, { provider, model, ...(system !== undefined && { system }) })
  for (const tool of replay.tools()) agent.ctx.tools.register(tool)
  ctx.on('session/event', (session, event) => {
    if (session.id === agent.id && event.type === 'turn/end' && event.data.reason.kind === 'completed') replay.turnEnded()
  })
  if (ctx.get('loader') === undefined) replay.start(agent)
  else ctx.on('loopguard/ready', () => replay.start(agent))
}

/** A transcript can be replayed again where sessions are stored: then the agent is `replay-2`, and so on. */
function createAgent(ctx: Context, id: string, options: AgentOptions): Agent {
  for (let copy = 1; ; copy++) {
    try {
      return ctx.agentLoop.create(SessionId(copy === 1 ? id : `${id}-${copy}`), options)
    } catch (error) {
      if (codeOf(error) !== 'SESSION_EXISTS') throw error
    }
  }
}
