/** A user message, as far as every host knows it. */
export interface ReminderMessage {
  readonly id: string
  readonly role: 'user'
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly source: { readonly kind: 'plugin'; readonly plugin: string }
}

/** Made here and not by the host's factory, which the guard does not load. The global `crypto` is loaded when it is used: no import of a guard waits for it. Deep-frozen. */
export function reminderMessage(plugin: string, text: string): ReminderMessage {
  const content = Object.freeze([Object.freeze({ type: 'text', text } as const)] as const)
  return Object.freeze({ id: crypto.randomUUID(), role: 'user', content, source: Object.freeze({ kind: 'plugin', plugin }) })
}
