import { isAbsolute } from 'node:path'
import { HarnessError, show } from '@loopguard/kit'

/** @throws HarnessError `BAD_AGENT` that names the agent, the option, what was given and what is wanted. */
export function checkOptions(id: unknown, options: unknown): void {
  const bad = (what: string, wanted: string, value: unknown): HarnessError =>
    new HarnessError(`agent-loop: agent ${show(id)}: ${what} must be ${wanted}, got ${show(value)}`, 'BAD_AGENT')
  if (typeof options !== 'object' || options === null) throw bad('the options', 'an object', options)
  const { provider, model, system, maxTokens, cwd } = options as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries({ id, provider, model })) {
    if (typeof value !== 'string' || value.trim() === '') throw bad(`\`${name}\``, 'non-blank text', value)
  }
  if (system !== undefined && typeof system !== 'string') throw bad('`system`', 'text or left out', system)
  if (cwd !== undefined && !(typeof cwd === 'string' && isAbsolute(cwd))) throw bad('`cwd`', 'an absolute path or left out', cwd)
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && (maxTokens as number) >= 1)) {
    throw bad('`maxTokens`', 'an integer from 1 to 9007199254740991 or left out', maxTokens)
  }
}
