import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { HookEvent } from '@loopguard/guards-claude-code'

type About = Partial<Pick<HookEvent, 'session_id' | 'agent_id'>>
interface Call {
  readonly tool_name: string
  readonly tool_input: unknown
  readonly tool_response?: unknown
}

export const look: Call = { tool_name: 'Read', tool_input: { file_path: 'a.txt', limit: 5 } }
export const turned: Call = { tool_name: 'Read', tool_input: { limit: 5, file_path: 'a.txt' } }

/** As Claude Code sends them, with a field that the hook does not read. */
export const batch = (calls: readonly Call[] = [look], about: About = {}): HookEvent =>
  ({
    session_id: 's',
    ...about,
    cwd: '/',
    hook_event_name: 'PostToolBatch',
    tool_calls: calls.map((call) => ({ ...call, tool_use_id: '1' })),
  }) as HookEvent
export const prompt = (about: About = {}): HookEvent => ({ session_id: 's', ...about, hook_event_name: 'UserPromptSubmit' })
export const end = (about: About = {}): HookEvent => ({ session_id: 's', ...about, hook_event_name: 'SessionEnd' })

export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guards-claude-code-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
