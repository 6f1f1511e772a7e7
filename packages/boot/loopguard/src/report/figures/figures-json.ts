import type { Analysis } from './analysis.ts'
import { plain, verdictOf } from './verdict.ts'

/** The figures of a session for programs. What was not recorded is `null`. */
export function figuresJson(file: string, analysis: Analysis): object {
  const { name, session, figures, spared, thresholds, spoken } = analysis
  const { longestRun, timeouts, busyMs, tokens, cost } = figures
  return {
    file,
    name,
    session: session.id ?? null,
    models: session.models,
    startedAt: session.startedAt ?? null,
    ...figures,
    timeouts: timeouts ?? null,
    busyMs: busyMs ?? null,
    tokens: tokens ?? null,
    cost: cost === undefined ? null : { sum: cost.sum ?? null, unpriced: cost.unpriced },
    longestRun: longestRun ?? null,
    verdict: plain(verdictOf(analysis)),
    thresholds,
    spared: spared.map(({ ms, inputTokens, outputTokens, cost: dollars, ...counts }) => ({
      ...counts,
      ms: ms ?? null,
      inputTokens: inputTokens ?? null,
      outputTokens: outputTokens ?? null,
      cost: dollars ?? null,
    })),
    found: spoken.map(({ agent: _agent, callId: _id, firstCallId: _first, ...finding }) => finding),
    notes: session.notes,
  }
}
