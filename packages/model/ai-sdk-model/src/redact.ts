/** Makes text safe to show. */
export type Redact = (text: string) => string

/** Shorter than this nothing is a secret, and to cut it out would wreck the text around it. */
const MIN_SECRET = 4

/** Cuts secrets out of text, as they are and as they stand in a URL or in JSON text. Longer ones first: one may hold another. */
export function redactor(secrets: readonly (string | undefined)[]): Redact {
  const forms = secrets
    .filter((secret) => secret !== undefined)
    .filter((secret) => secret.length >= MIN_SECRET)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    .toSorted((a, b) => b.length - a.length)
  return (text) => forms.reduce((clean, form) => clean.replaceAll(form, '***'), text)
}

/** Shapes of keys that providers hand out, and long words that mix digits with letters of both cases. */
const KEY = /\b(?:sk|pk|rk|gsk|xai|key|ghp|hf|AIza)[-_A-Za-z0-9]{12,}|\b(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[\w-]{24,}/

/** Whether text holds what looks like a key, so that it must be neither kept in a composition nor printed. */
export function looksLikeKey(text: string): boolean {
  return KEY.test(text)
}

/** Names of headers that carry credentials, in any case. */
export function isCredentialHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$|api[-_]?key|token|secret|password|credential/i.test(name)
}
