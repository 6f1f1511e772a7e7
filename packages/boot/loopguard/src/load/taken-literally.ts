import type { Entry } from '@deepseek-ai/cordis-plugin-loader'
import { subjectOf } from './audit.ts'
import { valuesIn } from './expressions.ts'
import { lineOf } from './faults.ts'

/** What other tools replace in a text. */
const VARIABLE = /\$\{\{?\s*(?:process\.)?(?:env\.)?([A-Za-z_]\w*)\s*\}?\}/

/** Says which texts of a configuration look as if something should be put in, which nothing does. */
export function takenLiterally(entries: Iterable<Entry>): string[] {
  return [...entries]
    .filter(({ fiber }) => fiber !== undefined)
    .flatMap((entry) =>
      [...valuesIn(entry.options.config, 'config')].flatMap(([key, value]) => {
        const [found, name = ''] = (typeof value === 'string' && VARIABLE.exec(value)) || []
        if (found === undefined) return []
        const cause = `\`${key}\` holds ${JSON.stringify(found)}, which is taken literally; to read the environment, write \`!!js process.env.${name}\``
        return [lineOf({ ...subjectOf(entry), cause })]
      }),
    )
}
