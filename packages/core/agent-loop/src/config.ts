import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

/** An agent that is made when the loop starts. With a session directory, one whose log exists is resumed. */
export interface AgentRow {
  readonly id: string
  readonly provider: string
  readonly model: string
  readonly system?: string
  readonly maxTokens?: number
  /** Sent as a user message by the command that runs the composition. */
  readonly prompt?: string
  /**
   * What a worker does with a turn of this agent that a dead worker left open: go on by itself, or wait for a message. Only read by
   * workers that share a store. Default `wait`.
   */
  readonly onTakeover?: 'resume' | 'wait'
}

export interface Config {
  /** How many bodies of concurrency-safe calls of one step may overlap, an integer >= 1. Default 10. */
  readonly maxParallelToolCalls: number
  /**
   * How long a tool or a model that does not stop when it is cancelled is waited for before it is given up on, in milliseconds. Default:
   * for ever. `cancel` and `dispose` may say otherwise.
   */
  readonly abandonAfterMs?: number
  /** Default none. */
  readonly agents: readonly AgentRow[]
}

const ROW_KEYS = ['id', 'provider', 'model', 'system', 'maxTokens', 'prompt', 'onTakeover']

const row: z<Partial<AgentRow>, AgentRow> = strictConfig(
  'agent-loop: `agents`',
  z.object({
    id: z.string().required(),
    provider: z.string().required(),
    model: z.string().required(),
    system: z.string(),
    maxTokens: z.natural().min(1).max(Number.MAX_SAFE_INTEGER),
    prompt: z.string(),
    onTakeover: z.union(['resume', 'wait'] as const),
  }) as z<Partial<AgentRow>, AgentRow>,
  ROW_KEYS,
)

const loop = z.object({
  maxParallelToolCalls: z.natural().min(1).max(Number.MAX_SAFE_INTEGER).default(10),
  abandonAfterMs: z.number().min(1).max(2_147_483_647),
  agents: z.array(row).default([]),
}) as unknown as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('agent-loop', loop, ['maxParallelToolCalls', 'abandonAfterMs', 'agents'], {
  items: { agents: row },
})
