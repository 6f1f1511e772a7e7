import type { Truncation } from './types.ts'

/** What the model reads of a stream that is not whole. */
export function truncationNote({ file, cutAt, fault }: Truncation): string {
  if (fault !== undefined) return `[output truncated; the full output could not be kept: ${fault}]`
  return cutAt === undefined ? `[output truncated; full output: ${file}]` : `[full output cut at ${cutAt} bytes: ${file}]`
}
