import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startChromium } from '../../../../../scripts/chromium.mjs'
import { analysisOf } from '../../src/report/figures/analysis.ts'
import { entryOf, indexPage } from '../../src/report/page/index-page.ts'
import { visible } from '../../src/report/page/html.ts'
import { sessionPage } from '../../src/report/page/session-page.ts'
import { sessionOfLog } from '../../src/report/read/from-log.ts'
import { fixer } from './fixer.ts'
import { long } from './long.ts'
import { Recorder } from './recorder.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let browser: Browser
/** One for all: a new one takes seconds on a busy machine. */
let page: Page
/** What the console said, what was thrown, and what was asked for besides the page that is open. */
let troubles: string[] = []
let own = ''
let folder = ''
beforeAll(async () => {
  browser = await startChromium()
  page = await browser.newPage()
  // The time that a test may take is limit enough, on a busy machine too.
  page.setDefaultTimeout(0)
  page.on('console', (message) => troubles.push(`console: ${message.text()}`))
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => request.url().split('#')[0] !== own && troubles.push(`request: ${request.url()}`))
  folder = mkdtempSync(join(tmpdir(), 'loopguard report #50%-'))
})
afterAll(async () => {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
})

const OPTIONS = { exclude: ['todo_*'] }
const PRICES = { 'deepseek-v4-flash': { input: 0.28, output: 0.42 } }

function analysed(name: string, log: string | Recorder): ReturnType<typeof analysisOf> {
  const events: unknown[] =
    typeof log === 'string'
      ? log
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown)
      : log.events
  return analysisOf(name, sessionOfLog(events, false, []), OPTIONS, PRICES)
}

/** Writes a page, and says where it is. */
function written(name: string, page: string): string {
  writeFileSync(join(folder, name), page)
  return join(folder, name)
}

function sessionFile(name: string, log: string | Recorder): string {
  return written(`${name}.html`, sessionPage(analysed(name, log), OPTIONS, { file: `${name}.jsonl` }))
}

interface Screen {
  readonly colorScheme?: 'light' | 'dark'
  readonly width?: number
}

/** Opens a page from the disk. */
async function open(file: string, { colorScheme = 'light', width = 1280 }: Screen = {}): Promise<void> {
  await page.goto('about:blank')
  await page.emulateMedia({ colorScheme, media: null })
  await page.setViewportSize({ width, height: 900 })
  own = pathToFileURL(file).href
  troubles = []
  await page.goto(own)
}

const count = (selector: string): Promise<number> => page.locator(selector).count()
/** How far the page reaches beyond the screen, and whether a number does beyond its box. */
const overflow = (): Promise<number> =>
  page.evaluate(
    `Math.max(document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll('.tile dd')].map((box) => box.scrollWidth - box.clientWidth - 1))`,
  )

const SCREENS = (['light', 'dark'] as const).flatMap((colorScheme) => [390, 1280].map((width) => ({ colorScheme, width })))

describe('the page of a session', () => {
  it.each(SCREENS)(
    '$colorScheme, $width pixels: everything is there, nothing reaches beyond the screen',
    async ({ colorScheme, width }) => {
      await open(sessionFile('fixer', fixer()), { colorScheme, width })
      expect(await overflow()).toBeLessThanOrEqual(0)
      expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe(
        colorScheme === 'dark' ? 'rgb(13, 20, 32)' : 'rgb(255, 255, 255)',
      )
      const [timeline, runs, tokens] = [0, 1, 2].map((index) => page.locator('.picture').nth(index))
      expect(await timeline?.locator('.rows li').allTextContents()).toEqual([
        'model',
        'read_file',
        'grep',
        'todo_write',
        'run_tests',
        'web_fetch',
        'edit_file',
      ])
      expect(await timeline?.locator('rect.model').count()).toBe(18)
      expect(await timeline?.locator('rect.timeout').count()).toBe(1)
      expect(await timeline?.locator('rect.break').count()).toBe(1)
      expect(await timeline?.locator('.band').count()).toBe(2)
      expect(await timeline?.locator('.reminder').count()).toBe(4)
      expect(await timeline?.locator('text.count').allTextContents()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
      // All calls but the two that do not count.
      expect(await runs?.locator('rect').count()).toBe(19)
      expect(await runs?.locator('.reminder').count()).toBe(4)
      expect(await runs?.locator('.threshold').count()).toBe(3)
      expect(await tokens?.locator('rect').count()).toBe(18)
      expect(await count('#rows tr[id]')).toBe(21)
      expect(await count('#rows .reminded')).toBe(4)
      expect(troubles).toEqual([])
    },
  )

  it('says what a cap spares where the slider stands', async () => {
    await open(sessionFile('fixer', fixer()))
    const spared = (): Promise<string | null> => page.locator('#spared').textContent()
    expect(await spared()).toBe('up to 5 calls · 5 requests · 5.69 s · 41,800 input tokens · $0.0118')
    await page.locator('#cap').press('ArrowRight')
    expect([await page.locator('#at').textContent(), await spared()]).toEqual([
      '4',
      'up to 4 calls · 4 requests · 4.44 s · 34,680 input tokens · $0.0098',
    ])
    await page.locator('#cap').press('End')
    expect(await spared()).toBe('nothing: no call was made more often in a row')
    expect(troubles).toEqual([])
  })

  it('leads from a mark to the row of its call, and unfolds a result', async () => {
    await open(sessionFile('fixer', fixer()))
    await page.locator('.picture').nth(0).locator('a[href="#c13"] rect').first().click()
    const row = page.locator('#c13')
    expect(await row.evaluate((element) => element.matches(':target'))).toBe(true)
    expect(await row.locator('pre').isVisible()).toBe(false)
    await row.locator('summary').click()
    expect(await row.locator('pre').textContent()).toContain('AssertionError')
    expect(troubles).toEqual([])
  })

  it('prints in light colours, without what only a screen can use', async () => {
    await open(sessionFile('fixer', fixer()), { colorScheme: 'dark' })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(255, 255, 255)')
    expect(await page.locator('#cap').isVisible()).toBe(false)
    expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-')
    expect(troubles).toEqual([])
  })

  it('runs no script, loads no picture and takes no style that is not its own', async () => {
    await open(sessionFile('fixer', fixer()))
    const done = await page.evaluate(`new Promise((resolve) => {
      const refused = []
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective))
      const script = document.createElement('script')
      script.textContent = 'globalThis.ran = true'
      const image = document.createElement('img')
      image.onload = image.onerror = () => setTimeout(() => resolve({ ran: 'ran' in globalThis, refused }))
      document.body.append(script)
      document.body.setAttribute('style', 'color: red')
      document.body.append(image)
      image.src = 'http://127.0.0.1:9/x.png'
    })`)
    expect(done).toEqual({ ran: false, refused: expect.arrayContaining(['script-src-elem', 'style-src-attr', 'img-src']) as unknown })
  })
})

const HOSTILE = [
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '" onmouseover="alert(3)',
  '<!-- <script>',
  'javascript:alert(4)',
  '\u202eright\u2066 \u0000 \u001b[2J \u2028',
].join(' ')

/** Every text that a log may hold is this one. */
function hostile(calls: number): Recorder {
  const log = new Recorder(HOSTILE, Date.UTC(2026, 0, 1))
  log.events.push({ seq: 1, time: Date.UTC(2026, 0, 1), type: 'request/header', data: { provider: HOSTILE, model: HOSTILE } })
  log.ask(HOSTILE)
  for (let index = 0; index < calls; index++)
    log.answer({
      text: HOSTILE,
      failed: HOSTILE,
      input: 5,
      calls: [{ name: HOSTILE, raw: HOSTILE, result: `${HOSTILE}\n${HOSTILE}`, code: HOSTILE }],
    })
  return log.end({ kind: HOSTILE, error: { code: HOSTILE, message: HOSTILE } })
}

describe('hostile text', () => {
  it.each([
    ['drawn at once', 12],
    ['drawn in parts', 1501],
  ])('in every field of a log is text (%s)', async (_how, calls) => {
    await open(sessionFile('hostile', hostile(calls)), { width: 390 })
    // The part with the longest run is chosen at first.
    if ((await count('#part')) > 0) await page.locator('#part').press('Home')
    expect(await page.locator('#c1 .call code').textContent()).toContain(visible(HOSTILE))
    await page.locator('#c1 summary').click()
    expect(await page.locator('#c1 pre').textContent()).toContain(visible(HOSTILE))
    expect([
      await count('script'),
      await count('img, iframe, object, embed, base, link, form'),
      await count('[onmouseover], [onerror]'),
    ]).toEqual([2, 0, 0])
    expect(
      await page.evaluate(`[...document.querySelectorAll('a')].filter((link) => !/^#c\\d+$/.test(link.getAttribute('href'))).length`),
    ).toBe(0)
    expect(await overflow()).toBeLessThanOrEqual(0)
    expect(troubles).toEqual([])
  })
})

describe('a session of 20,000 calls', () => {
  it('is one file of less than 5 MB, in which any part can be chosen', async () => {
    const file = sessionFile('long', long(20_000, 200))
    expect(statSync(file).size).toBeLessThan(5_000_000)
    await open(file)
    expect(await count('#strip rect')).toBe(200)
    const which = page.locator('#which')
    expect(await which.textContent()).toBe('turn 10 (part 10 of 200)')
    expect(await count('#rows tr[id]')).toBe(100)
    expect(await page.locator('#timeline rect.model').count()).toBe(100)
    await page
      .locator('#strip rect')
      .nth(199)
      .click({ position: { x: 1, y: 4 } })
    expect(await which.textContent()).toBe('turn 200 (part 200 of 200)')
    expect(await page.locator('#rows tr[id]').first().getAttribute('id')).toBe('c19901')
    await page.locator('#before').click()
    expect(await which.textContent()).toBe('turn 199 (part 199 of 200)')
    await page.locator('#part').press('Home')
    expect([await which.textContent(), await page.locator('#before').isDisabled()]).toEqual(['turn 1 (part 1 of 200)', true])
    // The sentence leads to a call of another part.
    await page.locator('.verdict a').click()
    expect(await which.textContent()).toBe('turn 10 (part 10 of 200)')
    const [, target] = (await page.locator('.verdict a').getAttribute('href'))?.split('#') ?? []
    expect(await page.locator(`#${target}`).isVisible()).toBe(true)
    expect(await page.locator('#rows .reminded').count()).toBeGreaterThan(0)
    expect(await overflow()).toBeLessThanOrEqual(0)
    expect(troubles).toEqual([])
  })
})

describe('the table of sessions', () => {
  const entries = (): Parameters<typeof indexPage>[0] => [
    entryOf(analysed('fixer', fixer()), 'fixer.html'),
    entryOf(analysed('b', new Recorder('b', Date.UTC(2025, 0, 1)).ask('go').answer({ calls: [{ name: 'a' }] })), 'b.html'),
    entryOf(analysed('a <b>', new Recorder('a', Date.UTC(2027, 0, 1)).ask('go').answer({ text: 'hi' })), 'a.html'),
  ]

  it.each(SCREENS)('$colorScheme, $width pixels: nothing reaches beyond the screen', async ({ colorScheme, width }) => {
    const file = written('index.html', indexPage(entries(), [{ file: 'x', why: `x: ${HOSTILE}` }], OPTIONS))
    await open(file, { colorScheme, width })
    expect(await overflow()).toBeLessThanOrEqual(0)
    expect(await page.locator('.notes li').textContent()).toBe(visible(`x: ${HOSTILE}`))
    expect(troubles).toEqual([])
  })

  it('is sorted by the column that is pressed, and leads to the pages', async () => {
    const fixed = sessionFile('fixer', fixer())
    await open(written('index.html', indexPage(entries(), [], OPTIONS)))
    const names = (): Promise<string[]> => page.locator('#sessions tbody .call').allTextContents()
    expect(await names()).toEqual(['fixer', 'b', 'a <b>'])
    await page.getByRole('button', { name: 'session' }).click()
    expect(await names()).toEqual(['a <b>', 'b', 'fixer'])
    await page.getByRole('button', { name: 'started' }).click()
    expect(await names()).toEqual(['b', 'fixer', 'a <b>'])
    await page.getByRole('button', { name: 'started' }).click()
    expect(await names()).toEqual(['a <b>', 'fixer', 'b'])
    await page.getByRole('button', { name: 'calls', exact: true }).click()
    expect(await names()).toEqual(['fixer', 'b', 'a <b>'])
    expect(await page.locator('th[aria-sort="descending"]').textContent()).toBe('calls')
    expect(troubles).toEqual([])
    await page.locator('#sessions a').first().click()
    await page.waitForURL(pathToFileURL(fixed).href)
    expect(await page.locator('h1').textContent()).toBe('fixer')
  })
})
