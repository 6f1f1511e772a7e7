import type { Block, LogEvent } from '../show/log-events.ts'
import { escaped, type Style } from '../show/terminal.ts'
import { folded } from '../show/width.ts'
import type { ChatScreen } from './chat-screen.ts'
import { answerIn, type ApprovalRequest, Questions } from './questions.ts'

export interface AskingParts {
  readonly screen: ChatScreen
  readonly style: Style
  /** Id of the agent of the conversation; others are named. */
  readonly own: string
}

/** Asks a person whether a call may run. What was being typed is put aside, and no half of an answer is left for the next question. */
export class Asking {
  readonly questions: Questions
  private readonly parts: AskingParts
  private readonly wanted = new Map<string, readonly Block[]>()
  private asked: ApprovalRequest | undefined
  private draft = ''

  constructor(parts: AskingParts) {
    this.parts = parts
    this.questions = new Questions(() => this.changed())
  }

  /** The question that waits for an answer. */
  get question(): ApprovalRequest | undefined {
    return this.asked
  }

  /** Remembers what the model wants: it is asked about before it is logged as a call. */
  note(agent: string, event: LogEvent): void {
    if (event.type === 'assistant/message') this.wanted.set(agent, event.data.message.content)
  }

  /** Takes a line that was typed while `asked` was the question. */
  answer(line: string, asked: unknown): void {
    const { screen, style } = this.parts
    if (asked !== this.asked) return screen.print(style.paint.dim('this is no longer asked'))
    const answer = answerIn(line)
    if (answer === undefined) return screen.print(style.paint.dim('y or n? Enter is no.'))
    screen.print(answer === 'rejected' ? style.paint.red('  no') : style.paint.green('  yes'))
    this.questions.answer(answer)
  }

  private changed(): void {
    const { screen, style } = this.parts
    const line = screen.takeLine()
    if (this.asked === undefined) this.draft = line
    this.asked = this.questions.first
    if (this.asked === undefined) screen.putLine(this.draft)
    // All of it, however long: nobody is to allow what is not shown.
    else
      screen.print(
        ...folded(this.words(this.asked), style.columns - 1)
          .split('\n')
          .map((row) => style.paint.bold(row)),
      )
    screen.update()
  }

  private words({ agent, toolName, callId, reason }: ApprovalRequest): string {
    const calls = (this.wanted.get(agent.id) ?? []).filter(({ type, id }) => type === 'tool-call' && id === callId)
    // Models give one id to several calls now and then: then it may be any of them.
    const given = [...new Set(calls.map((call) => ` ${call.arguments ?? ''}`))].join(' or')
    return escaped(
      `${agent.id === this.parts.own ? '' : `[${agent.id}] `}allow ${toolName}${given}?${reason === undefined ? '' : ` ${reason}`}`,
    )
  }
}
