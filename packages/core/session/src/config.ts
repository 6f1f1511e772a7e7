import z from '@deepseek-ai/schemastery'
import { strictConfig } from '@loopguard/kit'

export interface Config {
  /**
   * Where the logs are kept, one file for each session; made when it is missing. A relative path starts at the working directory
   * of the process. Without it sessions live in memory only.
   */
  readonly directory?: string
}

export const Config: z<Config> = strictConfig('session', z.object({ directory: z.string() }) as unknown as z<Config>, ['directory'])
