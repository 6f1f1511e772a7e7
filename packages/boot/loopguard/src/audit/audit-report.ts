import type { Context } from '@deepseek-ai/cordis'
import { placeOf } from '../show/place.ts'
import { escaped, type Style } from '../show/terminal.ts'
import { type Audit, audit, type AuditOptions, type Finding } from './audit.ts'
import { type RuleName, RULES } from './rules.ts'
import { Trails } from './trail.ts'

/** What the summary of `--json` gains by an audit. */
interface AuditSummary {
  /** How often each rule speaks. */
  readonly byGuard: Readonly<Partial<Record<RuleName, number>>>
  readonly repeatedCalls: number
  readonly suppressedByResults: number
  /** Each conversation on one line, by agent. */
  readonly pictures: Readonly<Record<string, string>>
}

export interface AuditTold {
  readonly summary: AuditSummary
  /** One JSON object a line. */
  lines(): string
  text(style: Style): string
}

/** Audits what the agents of a run do, as their logs have it. */
export class AuditReport {
  /** Tool calls that were seen, once it is finished. */
  calls = 0
  private readonly options: AuditOptions
  private readonly trails = new Trails()

  constructor(options: AuditOptions) {
    this.options = options
  }

  attach(ctx: Context): void {
    this.trails.attach(ctx)
  }

  finish(): AuditTold {
    const audits = this.trails.entries().map(([agent, trail]) => ({ agent, ...audit(agent, trail, this.options) }))
    const sum = (of: (each: Audit) => number): number => audits.reduce((total, each) => total + of(each), 0)
    this.calls = sum(({ calls }) => calls)
    const findings = audits.flatMap((each) => each.findings)
    const { guards = RULES } = this.options
    const byGuard = Object.fromEntries(guards.map((name) => [name, findings.filter(({ guard }) => guard === name).length]))
    const pictures = Object.fromEntries(audits.map(({ agent, picture }) => [agent, picture]))
    return {
      summary: {
        byGuard,
        repeatedCalls: sum(({ repeatedCalls }) => repeatedCalls),
        suppressedByResults: sum(({ suppressedByResults }) => suppressedByResults),
        pictures,
      },
      lines: () => findings.map((finding) => `${JSON.stringify({ finding })}\n`).join(''),
      text: (style) => textOf(findings, Object.entries(pictures), style),
    }
  }
}

/** The pictures, and what no guard reminds of: reminders are listed by the log. */
function textOf(findings: readonly Finding[], pictures: readonly (readonly [agent: string, picture: string])[], style: Style): string {
  const { paint, isTerminal } = style
  const safe = (text: string): string => (isTerminal ? escaped(text) : text)
  const drawn = pictures.map(([agent, picture]) => `${paint.bold('picture')} (${safe(agent)}): ${picture}\n`).join('')
  const noNews = findings.filter(({ guard }) => guard === 'no-news-run')
  if (noNews.length === 0) return drawn
  const lines = noNews.map((finding, index) => `  ${index + 1}. ${placeOf(finding)}: ${finding.count} in a row\n`)
  return `${drawn}${paint.yellow('calls without news, of which no guard reminds (no-news-run), up to')}\n${safe(lines.join(''))}`
}
