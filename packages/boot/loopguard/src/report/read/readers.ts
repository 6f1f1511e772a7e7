import { codeOf, messageOf } from '@loopguard/kit'
import { importFrom } from '../../load/import-from.ts'
import { LogFault } from '../../logs/fault.ts'
import { sessionOfLog } from './from-log.ts'
import { sessionOfTranscript } from './from-transcript.ts'
import type { Transcript } from './transcript.ts'
import type { Session } from './session.ts'

interface OpenedTranscript {
  readonly transcript: Transcript
  readonly events: readonly unknown[] | undefined
  readonly isTorn: boolean
}

/** What the command uses of `@loopguard/testkit`, which it finds by name. */
export interface Readers {
  readonly openTranscript: (file: string) => OpenedTranscript
}

/** Those that stand beside the command: what lies in a folder of logs is read and never run. */
export async function readers(): Promise<Readers> {
  return (await importFrom(import.meta.filename, '@loopguard/testkit')) as Readers
}

/**
 * Reads a session in any format that `replay` reads; `-` is standard input.
 * @throws LogFault when it cannot be read, or its format cannot be told.
 */
export function readSession({ openTranscript }: Readers, file: string): Session {
  try {
    const { transcript, events, isTorn } = openTranscript(file)
    return events === undefined ? sessionOfTranscript(transcript) : sessionOfLog(events, isTorn, transcript.notes ?? [])
  } catch (fault) {
    if (codeOf(fault) !== 'BAD_TRANSCRIPT') throw fault
    throw new LogFault(messageOf(fault))
  }
}
