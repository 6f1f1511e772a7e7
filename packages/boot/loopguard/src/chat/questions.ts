/** What a call asks of a person, by the shape of the service `approval`. */
export interface ApprovalRequest {
  readonly agent: { readonly id: string }
  readonly toolName: string
  readonly callId: string
  readonly reason: string | undefined
  readonly signal: AbortSignal
}

export type ApprovalAnswer = 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'

interface Question {
  readonly request: ApprovalRequest
  readonly settle: (answer: ApprovalAnswer) => void
}

/** The service `approval`: asks one question after the other. */
export class Questions {
  private readonly open: Question[] = []
  private readonly changed: () => void
  private isClosed = false

  /** @param changed - is told when another question is the first, or none is. */
  constructor(changed: () => void) {
    this.changed = changed
  }

  /** The question that is to be answered now. */
  get first(): ApprovalRequest | undefined {
    return this.open[0]?.request
  }

  request(request: ApprovalRequest): Promise<ApprovalAnswer> {
    if (this.isClosed) return Promise.resolve('unavailable')
    if (request.signal.aborted) return Promise.resolve('cancelled')
    return new Promise((resolve) => {
      const abort = (): void => settle('cancelled')
      const settle = (answer: ApprovalAnswer): void => {
        request.signal.removeEventListener('abort', abort)
        this.open.splice(this.open.indexOf(question), 1)
        resolve(answer)
        this.changed()
      }
      const question: Question = { request, settle }
      request.signal.addEventListener('abort', abort)
      this.open.push(question)
      if (this.open.length === 1) this.changed()
    })
  }

  /** Answers the first question. */
  answer(answer: ApprovalAnswer): void {
    this.open[0]?.settle(answer)
  }

  /** Nobody is there any more. */
  close(): void {
    this.isClosed = true
    for (const { settle } of this.open.slice()) settle('unavailable')
  }
}

/** What a person has typed as an answer: yes, no, or something else. */
export function answerIn(line: string): ApprovalAnswer | undefined {
  const word = line.trim().toLowerCase()
  if (word === 'y' || word === 'yes') return 'allowed-once'
  return word === '' || word === 'n' || word === 'no' ? 'rejected' : undefined
}
