// Finds the browser that tests and pictures are made with, and starts it: Debian's chromium, or what CHROMIUM names.
import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Nothing that a browser does by itself: no sandbox, which root cannot have, and no request of its own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** @returns its path, or `undefined` where there is none. */
export function chromiumPath() {
  const named = process.env.CHROMIUM
  return named === undefined || named === '' ? PLACES.find((path) => existsSync(path)) : named
}

/** With a folder of its own, which is removed when it is closed. */
export async function startChromium() {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: chromiumPath(), args: FLAGS })
}
