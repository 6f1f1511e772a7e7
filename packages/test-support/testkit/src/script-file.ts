import { chunkOf, REASON_KINDS, reasonOf, usageOf } from './script-chunks.ts'
import type { ScriptedAnswer, ScriptedCall, ScriptedFinish, ScriptedReply } from './script.ts'
import { YamlCursor } from './yaml-cursor.ts'

/**
 * Reads a script: a YAML list in which each entry is an answer (a map), a list of chunks, or `hang`.
 * @throws ScriptError with file, line, column, what was expected and what is there.
 */
export function readScript(file: string): ScriptedReply[] {
  return YamlCursor.read(file).list('a list of entries').map(entryOf)
}

function entryOf(at: YamlCursor): ScriptedReply {
  if (at.kind === 'list') return at.list('a list of chunks').map(chunkOf)
  if (at.kind === 'map') return answerOf(at)
  return at.scalar === 'hang' ? 'hang' : at.refuse('an answer (`text`, `calls`, …), a list of chunks, or `hang`')
}

function answerOf(at: YamlCursor): ScriptedAnswer {
  const { text, calls, finish, repeat, usage } = at.map('an answer', ['text', 'calls', 'finish', 'repeat', 'usage'])
  return {
    ...(text !== undefined && { text: text.text('`text` to be text') }),
    ...(calls !== undefined && { calls: calls.list('`calls` to be a list of calls').map(callOf) }),
    ...(finish !== undefined && { finish: finishOf(finish) }),
    ...(repeat !== undefined && { repeat: repeat.integer('`repeat` to be an integer >= 1', 1) }),
    ...(usage !== undefined && { usage: usageOf(usage) }),
  }
}

function callOf(at: YamlCursor): ScriptedCall {
  const call = at.map('a call (`name`, `arguments`, `id`)', ['name', 'arguments', 'id'])
  const expected = '`name` to be the name of a tool'
  return {
    name: call.name === undefined ? at.refuse(`a call with a \`name\``) : call.name.words(expected),
    arguments: call.arguments === undefined ? {} : call.arguments.json('arguments'),
    ...(call.id !== undefined && { id: call.id.words('`id` to be text') }),
  }
}

function finishOf(at: YamlCursor): ScriptedFinish {
  return at.kind === 'map' ? reasonOf(at) : at.oneOf(REASON_KINDS)
}
