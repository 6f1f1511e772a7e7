import type { JsonCursor } from './json-cursor.ts'
import type { RecordingBuilder } from './recording-builder.ts'

/** The events of the first agent of `loopguard run --json`: a recording is one conversation. */
export function eventsOfOne(lines: readonly JsonCursor[], recording: RecordingBuilder): JsonCursor[] {
  const told = lines.filter((line) => !line.lacks('event'))
  const agents = [...new Set(told.map((line) => line.at('agent').text('the id of an agent')))]
  const [first, ...others] = agents
  if (others.length > 0)
    recording.note(`the conversation of agent "${first}" is read; left out: ${others.map((id) => `"${id}"`).join(', ')}`)
  return told.filter((line) => line.at('agent').value === first).map((line) => line.at('event'))
}
