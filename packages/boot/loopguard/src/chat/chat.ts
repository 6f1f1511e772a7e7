import type { Context } from '@deepseek-ai/cordis'
import type { Agent, DeltaEvent } from '@loopguard/agent-loop'
import { messageOf } from '@loopguard/kit'
import { waitingFor } from '../live/words.ts'
import { spoken } from '../run/spoken.ts'
import { CallBook } from '../show/call-book.ts'
import { listen, type LogEvent } from '../show/log-events.ts'
import { textOf } from '../show/printout.ts'
import { Tally } from '../show/tally.ts'
import { escaped, type Style } from '../show/terminal.ts'
import { folded } from '../show/width.ts'
import { Asking } from './asking.ts'
import type { ChatScreen } from './chat-screen.ts'
import { completed, readLine, type SlashCommands } from './slash.ts'
import { Story } from './story.ts'
import { StreamedText } from './streamed-text.ts'

/** Draws the session of an agent as a page, and prints where it is. */
export type PageWriter = (agent: Agent) => Promise<void>

export interface ChatParts {
  readonly agent: Agent
  readonly style: Style
  /** Takes what is said, and says what is typed. */
  readonly screen: ChatScreen
  readonly page: PageWriter
  readonly leave: () => void
}

/** One agent, and a person who talks to it. */
export class Chat {
  readonly asking: Asking
  private readonly parts: ChatParts
  private readonly calls = new CallBook()
  private readonly tally = new Tally()
  private readonly story: Story
  private readonly streamed: StreamedText
  private readonly said = new Set<string>()
  private attempt = ''
  private readonly commands: Readonly<Record<string, SlashCommands>> = {
    help: { does: 'says what there is', run: () => this.help() },
    queue: { does: 'shows what waits to be read by the model', run: () => this.queue() },
    cancel: { does: 'cancels the turn, as Ctrl-C does', run: () => this.cancel() },
    report: { does: 'draws this session as a page', run: () => this.parts.page(this.parts.agent).then(() => []) },
    quit: { does: 'leaves, as Ctrl-C twice does', run: () => (this.parts.leave(), []) },
  }

  constructor(parts: ChatParts) {
    const { agent, style, screen } = (this.parts = parts)
    this.story = new Story(style, this.calls, agent.id)
    this.streamed = new StreamedText(() => style.columns - 1)
    this.asking = new Asking({ screen, style, own: agent.id })
    screen.begin({
      line: (line, asked) => this.line(line, asked),
      interrupt: () => this.interrupt(),
      leave: parts.leave,
      complete: (line) => completed(line, Object.keys(this.commands)),
      waiting: () => waitingFor(this.calls.activities, this.tally.counts(), performance.now()),
      tail: () => this.streamed.rest,
      question: () => this.asking.question,
    })
    this.greet()
  }

  attach(ctx: Context): void {
    const { agent, screen } = this.parts
    this.calls.attach(ctx)
    listen(ctx, 'session/event', ({ id, events = [] }, event) => this.note(id, event, events))
    const heard = ctx.on.bind(ctx) as unknown as (name: string, listener: (event: DeltaEvent) => void) => void
    heard('agent/delta', (event) => {
      if (event.agent === agent) this.delta(event)
    })
    heard('agent/disposed', (event) => {
      if (event.agent === agent) screen.print('this agent is gone: nothing more can be said to it')
    })
  }

  private note(id: string, event: LogEvent, log: readonly LogEvent[]): void {
    const { agent, screen } = this.parts
    this.tally.note(id, event)
    this.asking.note(id, event)
    if (id === agent.id) {
      if (event.type === 'assistant/message')
        this.answered(textOf(event.data.message.content.filter(({ type }) => type === 'text')), event.data.interrupted === true)
      else if (event.type === 'request/failed') screen.print(...this.streamed.end())
      else if (event.type === 'user/message' && event.data.source.kind === 'user' && !this.said.has(event.data.id))
        screen.print(...this.echo(textOf(event.data.content)))
      if (event.type === 'turn/end') screen.print(...this.streamed.end())
    }
    const lines = this.story.lines(id, event, log)
    if (lines.length > 0) screen.print(...lines)
    else screen.update()
  }

  private delta({ turn, step, attempt, chunk }: DeltaEvent): void {
    const { screen } = this.parts
    const place = `${turn}.${step}.${attempt}`
    if (place !== this.attempt) screen.print(...this.streamed.end())
    this.attempt = place
    if (chunk.type === 'block-start' && chunk.blockType === 'text' && this.streamed.rest !== '') screen.print(...this.streamed.add('\n'))
    if (chunk.type === 'text-delta') screen.print(...this.streamed.add(chunk.text))
  }

  private answered(text: string, isInterrupted: boolean): void {
    const { screen, style } = this.parts
    // What came in pieces stands there already.
    if (!this.streamed.hasText && text !== '') screen.print(...this.streamed.add(text))
    screen.print(...this.streamed.end(), ...(isInterrupted ? [style.paint.dim('(interrupted)')] : []))
  }

  private line(line: string, asked: unknown): void {
    if (asked !== undefined) return this.asking.answer(line, asked)
    const read = readLine(line)
    if (read === undefined) return
    if ('command' in read) this.command(read.command)
    else this.say(read.say)
  }

  private say(text: string): void {
    const { agent, screen, style } = this.parts
    const message = spoken(text)
    this.said.add(message.id)
    const steers = agent.status === 'running'
    try {
      if (steers) agent.steer(message)
      else agent.followup(message)
    } catch (error) {
      return screen.print(style.paint.red(escaped(messageOf(error))))
    }
    screen.print(...this.echo(text), ...(steers ? [style.paint.dim('  (the model reads this before its next step)')] : []))
  }

  private echo(text: string): string[] {
    const { style } = this.parts
    return folded(escaped(text).replaceAll(/^/gm, '> '), style.columns)
      .split('\n')
      .map((line) => style.paint.bold(line))
  }

  private command(name: string): void {
    const { screen, style } = this.parts
    const command = Object.hasOwn(this.commands, name) ? this.commands[name] : undefined
    if (command === undefined) return screen.print(style.paint.red(escaped(`there is no /${name}; /help says what there is`)))
    void (async () => command.run())().then(
      (lines) => screen.print(...lines),
      (error: unknown) => screen.print(style.paint.red(escaped(messageOf(error)))),
    )
  }

  private help(): string[] {
    const lines = Object.entries(this.commands).map(([name, { does }]) => `/${name.padEnd(7)} ${does}`)
    return [...lines, 'What you type while it works is read before the next step.', '// begins a text that begins with /.']
  }

  private queue(): string[] {
    const { nextStep, nextTurn } = this.parts.agent.inbox
    const told = (when: string, message: { readonly content: Parameters<typeof textOf>[0] }): string =>
      escaped(`${when}: ${textOf(message.content).replaceAll('\n', ' ')}`)
    const lines = [
      ...nextStep.map((message) => told('before the next step', message)),
      ...nextTurn.map((message) => told('as a turn of its own', message)),
    ]
    return lines.length > 0 ? lines : ['nothing waits']
  }

  private cancel(): string[] {
    const { agent } = this.parts
    if (agent.status !== 'running') return ['nothing runs']
    const { nextStep, nextTurn } = agent.inbox
    const dropped = nextStep.length + nextTurn.length
    agent.cancel()
    return [
      `cancelling${dropped > 0 ? `; ${dropped === 1 ? 'a message that waited is' : `${dropped} messages that waited are`} dropped` : ''}`,
    ]
  }

  private interrupt(): void {
    const { agent, screen, style } = this.parts
    const lines = agent.status === 'running' ? this.cancel() : []
    screen.print(style.paint.dim([...lines, 'Ctrl-C again leaves'].join('; ')))
  }

  private greet(): void {
    const { agent, screen, style } = this.parts
    const { provider, model } = agent.options
    const turns = agent.session.events.filter(({ type }) => type === 'turn/start').length
    screen.print(
      ...folded(escaped(`${agent.id}: ${provider}/${model}. /help says what there is; Ctrl-C cancels, twice leaves.`), style.columns)
        .split('\n')
        .map((line) => style.paint.dim(line)),
      ...(turns > 0 ? [style.paint.dim(`It goes on after ${turns === 1 ? 'one turn' : `${turns} turns`}.`)] : []),
    )
  }
}
