import type { Logger } from '@deepseek-ai/cordis'
import { messageOf } from '@loopguard/kit'
import type { Session } from '@loopguard/session'
import type { Ledger } from './ledger.ts'
import type { SetLimit } from './limits.ts'

/** Logs, as `budget/reached`, that limits were reached. */
export class Notices {
  private readonly ledgerOf: (session: Session) => Ledger
  private readonly log: Logger

  constructor(ledgerOf: (session: Session) => Ledger, log: Logger) {
    this.ledgerOf = ledgerOf
    this.log = log
  }

  /** Once a turn, or once an agent, and limit. Never throws: a limit acts also where the log takes no more. */
  tell(session: Session, reached: readonly SetLimit[], step: number): void {
    for (const { limit, value } of reached) {
      const ledger = this.ledgerOf(session)
      if (ledger.hasTold(limit, value)) continue
      try {
        session.append('budget/reached', { turn: ledger.turn, step, limit, value })
      } catch (refused) {
        this.log.error('%s is reached, and the log of %s does not take it: %s', limit, session.id, messageOf(refused), refused)
      }
    }
  }
}
