import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

export interface Config {
  /**
   * Where the logs are kept, one file for each session; made when it is missing. A relative path starts at the working directory
   * of the process. Without it sessions live in memory only.
   */
  readonly directory?: string
  /**
   * Whether what a barrier has passed survives a power failure too: `fdatasync` before a request leaves, before a tool starts and before
   * a turn ends. Needs a `directory`. Default `false`: then it survives a kill of the process.
   */
  readonly durable?: boolean
}

const schema = z.object({ directory: z.string(), durable: z.boolean().default(false) }) as unknown as z<Config>

export const Config: z<Config> = strictConfig('session', schema, ['directory', 'durable'])
