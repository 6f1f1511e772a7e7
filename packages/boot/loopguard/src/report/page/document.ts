import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from '../../package-folder.ts'
import { html, type Html, scriptElement, trusted } from './html.ts'

/** By this a file is known to be a report, which the next one may replace. */
export const MARK = '<meta name="generator" content="loopguard report">'

/** The files of `assets/` that a page is made of. */
export interface Assets {
  readonly styles: readonly string[]
  readonly scripts: readonly string[]
}

/**
 * One file that needs no other: what it may run and how it may look are named by hash, and it may fetch nothing.
 *
 * @param data - what the scripts read.
 */
export function documentOf(title: string, body: Html, { styles, scripts }: Assets, data: Html | undefined): string {
  const style = joined(styles)
  const script = joined(scripts)
  const policy = [
    `default-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `style-src 'sha256-${hashOf(style)}'`,
    ...(script === '' ? [] : [`script-src 'sha256-${hashOf(script)}'`]),
  ]
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${trusted(policy.join('; '))}" />
        ${trusted(MARK)}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <style>
          ${trusted(style)}
        </style>
      </head>
      <body>
        ${body}${data && scriptElement(data, 'type="application/json" id="data"')}${script !== '' && scriptElement(trusted(script))}
      </body>
    </html>`.text
}

const known = new Map<string, string>()

/** A build copies no style sheets, so that they stay in `src`, which is published, too. */
function joined(names: readonly string[]): string {
  return names
    .map((name) => {
      const text = known.get(name) ?? readFileSync(new URL(`src/report/assets/${name}`, PACKAGE_FOLDER), 'utf8')
      known.set(name, text)
      return text
    })
    .join('')
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
