import { HarnessError, keyHint, show, snapshot } from '@loopguard/kit'

/** A detached, deep-frozen copy of the settings. @throws HarnessError `BAD_SETTINGS` */
export function settingsOf(given: { readonly [key: string]: unknown }): { readonly depth: number } {
  for (const key of Object.keys(given)) {
    if (key !== 'depth') throw new HarnessError(`unknown key \`${key}\`${keyHint(key, ['depth'])}`, 'BAD_SETTINGS')
  }
  const { depth } = given
  if (typeof depth !== 'number') throw new HarnessError(`\`depth\` must be a number, got ${show(depth)}`, 'BAD_SETTINGS')
  return snapshot({ depth })
}
