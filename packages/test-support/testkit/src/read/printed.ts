import type { JsonCursor } from './json-cursor.ts'
import type { TranscriptBuilder } from './transcript-builder.ts'

/** The events of the first agent of `loopguard run --json`: a transcript is one conversation. */
export function eventsOfOne(lines: readonly JsonCursor[], transcript: TranscriptBuilder): JsonCursor[] {
  const told = lines.filter((line) => !line.lacks('event'))
  const agents = [...new Set(told.map((line) => line.at('agent').text('the id of an agent')))]
  const [first, ...others] = agents
  if (others.length > 0)
    transcript.note(`the conversation of agent "${first}" is read; left out: ${others.map((id) => `"${id}"`).join(', ')}`)
  return told.filter((line) => line.at('agent').value === first).map((line) => line.at('event'))
}
