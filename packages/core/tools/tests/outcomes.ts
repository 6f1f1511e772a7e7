import type { ToolExecutionResult } from '@loopguard/tools'
import { gate } from '@loopguard/testkit'
import { bogus, type Host } from './support.ts'

/** One call for each failure in the table of the README, by its row: how it comes about, and exactly what it is. */
export const outcomes: Record<
  string,
  { readonly run: (host: Host) => Promise<ToolExecutionResult>; readonly text: string; readonly info?: object }
> = {
  'unknown tool': {
    run: (host) => host.call({ name: 'ehco' }),
    text: 'Error: unknown tool "ehco"',
    info: { name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' },
  },
  'arguments are not JSON': {
    run: (host) => host.call({ arguments: { list: [1, undefined] } }),
    text: 'Error: invalid arguments: arguments.list[1] is undefined',
    info: { name: 'ToolArgsError', code: 'INVALID_ARGS' },
  },
  'arguments do not match `parameters`': {
    run(host) {
      host.tool({ name: 'read', parameters: { type: 'object', required: ['path'] } })
      return host.call({ name: 'read' })
    },
    text: 'Error: invalid arguments: arguments must have the property "path"',
    info: { name: 'ToolArgsError', code: 'INVALID_ARGS' },
  },
  'denied by `tools/pre-execute` or approval': {
    run(host) {
      host.ctx.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'not on a Sunday' }))
      return host.call()
    },
    text: 'Error: not on a Sunday',
    info: { name: 'ToolDeniedError', code: 'DENIED' },
  },
  'the caller had aborted before the call': {
    run: (host) => host.call({ signal: AbortSignal.abort() }),
    text: 'Error: tool call aborted before dispatch',
    info: { name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' },
  },
  'denied by a guard': {
    run(host) {
      host.tools.guard(() => 'not in this house')
      return host.call()
    },
    text: 'Error: not in this house',
    info: { name: 'ToolDeniedError', code: 'DENIED' },
  },
  'aborted later, before the body ran': {
    run(host) {
      const caller = new AbortController()
      host.ctx.on('tools/pre-execute', (_exec, next) => (caller.abort(), next()))
      return host.call({ signal: caller.signal })
    },
    text: 'Error: tool call aborted before dispatch',
    info: { name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' },
  },
  'success, but the caller had aborted': {
    run(host) {
      const caller = new AbortController()
      host.body = () => (caller.abort(), 'too late')
      return host.call({ signal: caller.signal })
    },
    text: 'Error: tool call aborted',
    info: { name: 'AbortError', code: 'ABORTED' },
  },
  'timeout-policy': {
    run(host) {
      host.ctx.on('tools/execute', async (_exec, next) => ({
        ...(await next()),
        isError: true,
        content: [{ type: 'text', text: 'Error: tool call timed out after 1ms' }],
        error: { message: 'tool call timed out after 1ms', info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } },
      }))
      return host.call()
    },
    text: 'Error: tool call timed out after 1ms',
    info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' },
  },
  'the body threw': {
    run(host) {
      host.body = () => Promise.reject(Object.assign(new Error('no such file'), { name: 'FileError', code: 'ENOENT' }))
      return host.call()
    },
    text: 'Error: no such file',
    info: { name: 'FileError', code: 'ENOENT' },
  },
  'a listener threw': {
    run(host) {
      host.ctx.on('tools/execute', () => {
        throw Object.assign(new Error('no disk'), { code: 'EIO' })
      })
      return host.call()
    },
    text: 'Error: no disk',
    info: { name: 'Error', code: 'EIO' },
  },
  'the body returned something else': {
    run(host) {
      host.body = () => bogus(42)
      return host.call()
    },
    text: 'Error: tool "echo" returned invalid output: 42, not text or an array of content blocks',
    info: { name: 'ToolOutputError', code: 'INVALID_TOOL_OUTPUT' },
  },
  'given up on (`PreparedCall.abandon()`)': {
    async run(host) {
      const started = gate()
      host.body = () => (started.open(), new Promise(() => {}))
      const prepared = await host.tools.prepare(host.input())
      void prepared.dispatch()
      await started.opened
      void prepared.abandon()
      return prepared.finish()
    },
    text: 'Error: tool call was given up on: the tool did not stop when it was cancelled, and may still be working; whether it took effect is not known',
    info: { name: 'ToolInterruptedError', code: 'TOOL_OUTCOME_UNKNOWN' },
  },
  'blocked by `tools/post-execute`': {
    run(host) {
      host.ctx.on('tools/post-execute', async () => ({ kind: 'block', feedback: [{ type: 'text', text: 'Think again.' }] }))
      return host.call()
    },
    text: 'Think again.',
    info: { name: 'ToolBlockedError', code: 'BLOCKED' },
  },
}
