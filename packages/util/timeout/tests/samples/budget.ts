import { ToolTimeoutError, withTimeout } from '@loopguard/timeout'

/** What a model reads of a tool that may take two seconds. A cancel of the user's is not for the model: it is thrown. */
export async function told(run: (signal: AbortSignal) => Promise<string>, user?: AbortSignal): Promise<string> {
  try {
    return await withTimeout(run, 2_000, user)
  } catch (error) {
    if (error instanceof ToolTimeoutError) return `Error: ${error.message}`
    throw error
  }
}
