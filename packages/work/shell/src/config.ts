import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'
import { MAX_TIMER_DELAY_MS } from '@loopguard/timeout'

/** How the service is set. */
export interface Config {
  /** How long a command may take that asks for nothing else. Default 120000 (2 min). */
  readonly timeoutMs: number
  /** The longest timeout that a request gets; more is clamped in silence. Default 600000 (10 min). */
  readonly maxTimeoutMs: number
  /** How much of each stream a result holds, from its end. Default 64000. */
  readonly maxOutputBytes: number
  /** How much of a longer stream its file holds, from its beginning. Default 67108864 (64 MiB). */
  readonly maxSpillBytes: number
  /** How long a process group has between SIGTERM and SIGKILL. Default 3000. */
  readonly graceMs: number
  /** Where commands run that name no folder. Default: the folder of the process. */
  readonly cwd?: string
  /** Names of environment variables that are passed on although they look like credentials. Default none. */
  readonly env: readonly string[]
}

const milliseconds = (): z<number> => z.natural().min(1).max(MAX_TIMER_DELAY_MS)

const schema = z.object({
  timeoutMs: milliseconds().default(120_000),
  maxTimeoutMs: milliseconds().default(600_000),
  maxOutputBytes: z.natural().min(1).default(64_000),
  maxSpillBytes: z.natural().default(67_108_864),
  graceMs: milliseconds().default(3_000),
  cwd: z.string(),
  env: z.array(z.string()).default([]),
}) as unknown as z<Partial<Config>, Config>

export const Config: z<Partial<Config>, Config> = strictConfig('shell', schema, [
  'timeoutMs',
  'maxTimeoutMs',
  'maxOutputBytes',
  'maxSpillBytes',
  'graceMs',
  'cwd',
  'env',
])
