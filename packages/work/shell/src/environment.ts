const PARTS = new Set(['KEY', 'APIKEY', 'TOKEN', 'SECRET', 'PASS', 'PASSWD', 'PASSPHRASE', 'CREDENTIAL', 'CREDENTIALS', 'PAT'])

/** What a shell without a terminal needs to know: no colours, no pager that waits for a key. */
const PLAIN = { NO_COLOR: '1', TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' }

/** The environment of a command: that of this process, without what looks like a credential and is not in `allowed`. */
export function environmentFor(allowed: readonly string[], env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(([name]) => allowed.includes(name) || !isWithheld(name))
  return { ...Object.fromEntries(passed), ...PLAIN }
}

function isWithheld(name: string): boolean {
  // BASH_ENV names a script that every bash would run first.
  return looksLikeCredential(name) || name === 'BASH_ENV'
}

/** A name with a part that says so (`AWS_SECRET`, `npm_config__authToken`, `API_KEY2`), or with PASSWORD anywhere. */
function looksLikeCredential(name: string): boolean {
  const parts = name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toUpperCase()
    .split(/[^A-Z\d]+/)
  return name.toUpperCase().includes('PASSWORD') || parts.some((part) => PARTS.has(part.replace(/\d+$/, '')))
}
