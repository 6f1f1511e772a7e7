import { readFileSync } from 'node:fs'
import { agent, type AgentApp, type InitializeResponse, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import { createUserMessage } from '@loopguard/llm'
import type { SessionStore } from '@loopguard/session'
import { answerOf, refusalOf } from './answers.ts'
import type { Update } from './open-session.ts'
import type { Outbox } from './outbox.ts'
import { contentOf } from './prompt-content.ts'
import type { Sessions } from './sessions.ts'
import { listed } from './stored.ts'

export interface AppParts {
  readonly sessions: Sessions
  readonly store: SessionStore
  readonly outbox: Outbox<Update>
}

/** What a client may ask for. Answers follow what it is told of until then. */
export function appOf({ sessions, store, outbox }: AppParts): AgentApp {
  return agent({ name: 'loopguard' })
    .onRequest(methods.agent.initialize, hello)
    .onRequest(methods.agent.session.prompt, async ({ params }) => {
      const { prompts } = sessions.get(params.sessionId)
      const message = createUserMessage({ content: contentOf(params.prompt), source: { kind: 'user' } })
      try {
        return answerOf(await prompts.send(message))
      } catch (error) {
        throw refusalOf(error, params.sessionId)
      }
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.open.get(params.sessionId)?.agent.cancel({ kind: 'user' }))
    .onRequest(methods.agent.session.new, async ({ params }) => ({ sessionId: (await sessions.create(params)).agent.id }))
    .onRequest(methods.agent.session.load, async ({ params }) => {
      await sessions.load(params)
      await new Promise<void>((resolve) => outbox.mark(resolve))
      return {}
    })
    .onRequest(methods.agent.session.list, async ({ params }) => {
      try {
        return await listed(store, params)
      } catch (error) {
        throw refusalOf(error)
      }
    })
}

function hello(): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'loopguard', version: version() },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true },
      sessionCapabilities: { list: {} },
    },
    authMethods: [],
  }
}

function version(): string {
  return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
}
