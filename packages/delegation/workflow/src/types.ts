import type { Agent } from '@loopguard/agent-loop'
import type { CallId } from '@loopguard/llm'
import type { SubagentRequest, SubagentResult } from '@loopguard/subagent'

/** What a run is started with. */
export interface WorkflowRequest {
  /** Whose children the agents are. */
  readonly parent: Agent
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined
  /** At most what is configured, which is the default. */
  readonly maxTotalAgents?: number | undefined
  readonly maxConcurrentAgents?: number | undefined
  /** The call that the run is made for; it stands in the logs of its agents. */
  readonly callId?: CallId | undefined
}

/** What one agent of a run is to do. */
export type AgentTask = Pick<SubagentRequest, 'prompt' | 'system' | 'provider' | 'model' | 'toolFilter'>

/** What came of it: the agent's last answer that was not empty, and how its last turn ended. */
export type AgentOutcome = Pick<SubagentResult, 'text' | 'reason'>

/** What the program of a run is given. */
export interface Workflow {
  /**
   * Makes a child, and resolves when it is gone, however its turn ended. Each call counts, also one whose start fails. Rejects with
   * `AGENT_CAP` when there may be no more, with `WORKFLOW_OVER` when the run is over, with the signal's reason when it is cancelled, and
   * as `ctx.subagents.run` does.
   */
  readonly agent: (task: AgentTask) => Promise<AgentOutcome>
  /** Aborts when the run is cancelled, or over. */
  readonly signal: AbortSignal
}

/** The program of a run. */
export type WorkflowProgram<T> = (workflow: Workflow) => Promise<T> | T
