import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import { HarnessError } from '@loopguard/kit'

/**
 * The file that a configuration names, relative to the folder of the `cordis.yml`; without one, to the working directory.
 * @throws HarnessError `BAD_PATH` for blank text.
 */
export function pathOf(ctx: Context, path: string, plugin: string, key: string): string {
  if (path.trim() === '')
    throw new HarnessError(`${plugin}: \`${key}\` must be the path of a file, got ${JSON.stringify(path)}`, 'BAD_PATH')
  return resolve(ctx.baseUrl === undefined ? '.' : fileURLToPath(ctx.baseUrl), path)
}
