import { messageOf, show } from '@loopguard/kit'
import type { ContentBlock } from '@loopguard/llm'
import { contentOf } from './content.ts'
import type { RegisteredTool } from './definition.ts'
import type { Pipeline } from './pipeline.ts'
import {
  aborted,
  abortedBeforeDispatch,
  invalidArguments,
  invalidOutput,
  success,
  textContent,
  thrownFailure,
  unknownTool,
  withExtras,
} from './results.ts'
import { Fuse } from './fuse.ts'
import { runContext } from './run-context.ts'
import type { Sink } from './sink.ts'
import type { ToolExecution, ToolExecutionResult } from './types.ts'

/**
 * One dispatch, at the centre of `tools/execute`: finds the tool, checks the arguments, runs the body. What the body defers and
 * concludes gathers in `sink`, and stands on the result, which is left there too. Never rejects.
 */
export async function dispatchOnce(pipeline: Pipeline, exec: ToolExecution, caller: AbortSignal, sink: Sink): Promise<ToolExecutionResult> {
  const tool = pipeline.registry.find(exec.name, exec.agent)
  const result = refusal(tool, exec, caller) ?? (await bodyResult(tool as RegisteredTool, exec, caller, sink))
  sink.open = false
  if (!result.isError && tool?.concludesTurn === true) sink.concluded = true
  return (sink.result = sink.isEmpty ? result : withExtras(result, sink.contexts, sink.concluded))
}

/** Why the body does not run. */
function refusal(tool: RegisteredTool | undefined, exec: ToolExecution, caller: AbortSignal): ToolExecutionResult | undefined {
  if (caller.aborted || exec.signal.aborted) return abortedBeforeDispatch()
  if (tool === undefined) return unknownTool(exec.name)
  const violations = tool.check(exec.arguments)
  return violations === undefined ? undefined : invalidArguments(violations)
}

/** With a signal that follows the caller's, also when a wrapper replaced it. The body is awaited until it settles. */
async function bodyResult(tool: RegisteredTool, exec: ToolExecution, caller: AbortSignal, sink: Sink): Promise<ToolExecutionResult> {
  sink.body.start()
  const fuse = exec.signal === caller ? undefined : new Fuse(caller, exec.signal)
  try {
    const result = outputResult(exec.name, await tool.run(exec.arguments, runContext(exec, fuse, sink)))
    return caller.aborted && !result.isError ? aborted() : result
  } catch (thrown) {
    return thrownFailure(thrown, fuse === undefined ? caller : fuse.signal)
  } finally {
    sink.body.stop()
    fuse?.release()
  }
}

function outputResult(name: string, output: unknown): ToolExecutionResult {
  if (typeof output === 'string') return success(textContent(output))
  let content: readonly ContentBlock[]
  try {
    if (!Array.isArray(output)) return invalidOutput(name, `${show(output)}, not text or an array of content blocks`)
    content = contentOf(output, 'output')
  } catch (thrown) {
    return invalidOutput(name, messageOf(thrown))
  }
  return success(content)
}
