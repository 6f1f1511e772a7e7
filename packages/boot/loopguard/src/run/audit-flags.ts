import { type Command, InvalidArgumentError, Option } from 'commander'
import { type RuleName, RULES } from '../audit/rules.ts'

/** The flags that say what to look for in a conversation. */
export function auditFlags(command: Command): Command {
  return command
    .option('--thresholds <counts>', 'at how many equal calls in a row to remind, such as 3,5,8', parseCounts)
    .option('--include <pattern>', 'track these tools only; * stands for anything; repeatable', collect)
    .option('--exclude <pattern>', 'do not track these tools; repeatable', collect)
    .option('--guards <names>', `the rules to ask, of ${RULES.join(', ')}; default: all`, parseGuards)
    .addOption(
      new Option('--results <which>', 'whether equal calls count with any results, or only with unchanged ones').choices([
        'any',
        'unchanged',
      ]),
    )
    .option('--errors <expression>', 'a result in which this regular expression finds something is a failure', parseExpression)
}

function parseCounts(text: string): number[] {
  const counts = text.split(',').map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN))
  if (counts.some(Number.isNaN)) throw new InvalidArgumentError('Expected integers separated by commas, such as 3,5,8.')
  return counts
}

function parseGuards(text: string): RuleName[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !RULES.includes(name as RuleName))
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no "${unknown}"; the names are ${RULES.join(', ')}.`)
  return [...new Set(names)] as RuleName[]
}

function parseExpression(text: string): string {
  try {
    new RegExp(text, 'm')
  } catch (error) {
    throw new InvalidArgumentError(`Expected a regular expression: ${(error as Error).message}.`)
  }
  if (text.trim() === '') throw new InvalidArgumentError('Expected a regular expression that is not blank.')
  return text
}

function collect(pattern: string, patterns: readonly string[] = []): string[] {
  return [...patterns, pattern]
}
