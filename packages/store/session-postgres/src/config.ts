import { hostname } from 'node:os'
import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

export interface Config {
  /** The database, without a password: `postgres://user@host:5432/database`. Either this or `urlEnv`. */
  readonly url?: string
  /** The environment variable that holds the URL; there it may have a password. */
  readonly urlEnv?: string
  /** How people call this process. Default: the machine and the process. */
  readonly worker: string
  /** How long this process may be silent before others take its sessions over, in milliseconds. Default 5000. */
  readonly leaseMs: number
  /** How many statements that append may be under way at once. Default 2. */
  readonly lanes: number
  /** The schema of the tables. Default `loopguard`. */
  readonly schema: string
  /** After how many workers that ended with its turn open a session is left alone, until somebody lets it go on. Default 3. */
  readonly maxTakeovers: number
}

const schema = z.object({
  url: z.string(),
  urlEnv: z.string(),
  worker: z.string().default(`${hostname()}:${process.pid}`),
  leaseMs: z.natural().min(500).max(3_600_000).default(5000),
  lanes: z.natural().min(1).max(16).default(2),
  schema: z.string().default('loopguard'),
  maxTakeovers: z.natural().min(1).max(1_000_000).default(3),
}) as unknown as z<Partial<Config>, Config>

const KEYS = ['url', 'urlEnv', 'worker', 'leaseMs', 'lanes', 'schema', 'maxTakeovers']

export const Config: z<Partial<Config>, Config> = strictConfig('session-postgres', schema, KEYS)
