import { importFrom } from '../load/import-from.ts'

/** What the command uses of `@loopguard/session`, which it finds by name as a composition does. */
export interface SessionPackage {
  readonly LogDirectory: new (path: string) => LogDirectory
  readonly checkSessionId: (id: unknown) => string
  salvage(bytes: Uint8Array, id: string): Salvage
  encodeLine(event: unknown): Uint8Array
}

interface LogDirectory {
  read(id: string): Promise<readonly unknown[]>
  stored(): Promise<readonly { readonly id: string; readonly updatedAt: number; readonly title?: string }[]>
}

interface Salvage {
  readonly events: readonly unknown[]
  readonly notes: readonly { readonly line: number; readonly what: string }[]
}

export function sessionPackage(file: string): Promise<SessionPackage> {
  return importFrom(file, '@loopguard/session') as Promise<SessionPackage>
}

export const LOG_ENDING = '.jsonl'

/** What a user can mend: said in one line, without a stack. */
export class LogFault extends Error {}
