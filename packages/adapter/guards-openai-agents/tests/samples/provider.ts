import { repeatToolReminder } from '@loopguard/guards-openai-agents'
import { type ModelProvider, Runner } from '@openai/agents-core'

/** For agents that name their model: every model that the provider makes reads the reminders. */
export function guardedRunner(provider: ModelProvider): Runner {
  const guarded = repeatToolReminder()
  return new Runner({ modelProvider: { getModel: async (name) => guarded(await provider.getModel(name)) } })
}
