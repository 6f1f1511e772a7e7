import { readFile, writeFile } from 'node:fs/promises'
import { createRepeatTracker, type Chain } from '@loopguard/repeat'

const tracker = createRepeatTracker({ thresholds: [3, 5, 8] })

/** One call of a loop whose steps are processes. What is due is for the model to read, after the results of this step. */
export async function observed(file: string, name: string, args: unknown): Promise<string | undefined> {
  const session = {}
  const saved = await readFile(file, 'utf8').catch(() => undefined)
  if (saved !== undefined) tracker.load(session, JSON.parse(saved) as Chain)
  const reminder = tracker.observe(session, name, args)
  await writeFile(file, JSON.stringify(tracker.save(session)))
  return reminder
}
