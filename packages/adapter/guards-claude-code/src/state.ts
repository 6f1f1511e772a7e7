import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { RepeatTracker } from '@loopguard/repeat'
import type { HookEvent } from './event.ts'

/** Not in a folder for temporary files, where others may put a file of that name first. */
export function defaultFolder({ XDG_STATE_HOME: state = '' }: NodeJS.ProcessEnv): string {
  return join(isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'loopguard-claude-code')
}

/** The chains of the sessions: a folder for each session, in it a file for each agent. They hold digests and numbers. */
export class State {
  private readonly session: string
  private readonly file: string

  constructor(folder: string, { session_id: session, agent_id: agent = '' }: HookEvent) {
    this.session = join(folder, digest(session))
    this.file = join(this.session, `${digest(agent)}.json`)
  }

  /** What is missing or no chain is none: the run begins anew. */
  load(tracker: RepeatTracker, agent: object): void {
    try {
      const { chain } = JSON.parse(readFileSync(this.file, 'utf8')) as { chain: never }
      tracker.load(agent, chain)
    } catch {}
  }

  /** A reader sees the old file or the new one, and never a part. */
  save(tracker: RepeatTracker, agent: object): void {
    const chain = tracker.save(agent)
    if (chain === undefined) return this.forgetAgent()
    mkdirSync(this.session, { recursive: true, mode: 0o700 })
    const draft = `${this.file}.${process.pid}`
    writeFileSync(draft, JSON.stringify({ chain }), { mode: 0o600 })
    renameSync(draft, this.file)
  }

  forgetAgent(): void {
    rmSync(this.file, { force: true })
  }

  forgetSession(): void {
    rmSync(this.session, { recursive: true, force: true })
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
