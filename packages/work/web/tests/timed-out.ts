/** The result that the model gets in place of a late one, to the letter. */
export function timedOut(timeoutMs: number) {
  return {
    isError: true,
    content: [{ type: 'text', text: `Error: tool call timed out after ${timeoutMs}ms` }],
    error: { message: `tool call timed out after ${timeoutMs}ms`, info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } },
  }
}
