// Makes the pictures of docs/report.md from the session of examples/transcripts:
// node --conditions=@loopguard/source --import tsx scripts/pictures.mjs
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { main } from '../packages/boot/loopguard/src/main.ts'
import { startChromium } from './chromium.mjs'
import { indexedPng } from './indexed-png.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const examples = join(root, 'examples/transcripts')
const SCREENS = [
  { width: 1280, height: 1180 },
  { width: 390, height: 1180 },
]

const folder = mkdtempSync(join(tmpdir(), 'loopguard-pictures-'))
const file = join(folder, 'fixer.html')
const session = join(examples, 'fixer.jsonl')
const prices = join(examples, 'prices.json')
const code = await main(['report', session, '-o', file, '--exclude', 'todo_*', '--prices', prices])
const browser = await startChromium()
for (const { width, height } of SCREENS) {
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme })
    await page.goto(pathToFileURL(file).href)
    const picture = indexedPng(await pixelsOf(await page.screenshot()))
    await page.close()
    const path = join(root, `docs/report/${colorScheme}-${width}.png`)
    writeFileSync(path, picture)
    console.log(`${path}: ${picture.length} bytes`)
  }
}
await browser.close()

/** What is in a PNG, as the browser reads it. */
async function pixelsOf(png) {
  const page = await browser.newPage()
  const { width, height, base64 } = await page.evaluate(
    async (source) => {
      const image = await createImageBitmap(await (await fetch(source)).blob())
      const canvas = new OffscreenCanvas(image.width, image.height)
      const context = canvas.getContext('2d')
      context.drawImage(image, 0, 0)
      const { data } = context.getImageData(0, 0, image.width, image.height)
      return { width: image.width, height: image.height, base64: btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join('')) }
    },
    `data:image/png;base64,${png.toString('base64')}`,
  )
  await page.close()
  return { width, height, pixels: Buffer.from(base64, 'base64') }
}

rmSync(folder, { recursive: true })
process.exit(code)
