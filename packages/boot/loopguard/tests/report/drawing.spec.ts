import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analysisOf } from '../../src/report/figures/analysis.ts'
import { runsOf, tokensOf } from '../../src/report/draw/bars.ts'
import { lanesOf } from '../../src/report/draw/lanes.ts'
import { partsOf, sceneOfPart } from '../../src/report/draw/parts.ts'
import { scaleOf, ticksOf } from '../../src/report/draw/scale.ts'
import { sparkOf } from '../../src/report/draw/spark.ts'
import { sceneOf, timelineOf } from '../../src/report/draw/timeline.ts'
import { sessionOfLog } from '../../src/report/read/from-log.ts'
import type { Picture } from '../../src/report/draw/marks.ts'
import { long } from './long.ts'
import { Recorder } from './recorder.ts'

const analysed = (log: Recorder): ReturnType<typeof analysisOf> => analysisOf('s', sessionOfLog(log.events, false, []), {}, undefined)
const ofKind = (picture: Picture, kind: string): readonly (readonly unknown[])[] => picture.marks.filter(([name]) => name === kind)
const ofClass = (picture: Picture, name: string): readonly (readonly unknown[])[] =>
  picture.marks.filter((mark) => mark.some((part) => typeof part === 'string' && part.split(' ').includes(name)))

const spans = fc
  .array(fc.record({ start: fc.nat(100_000), length: fc.nat(5000) }), { minLength: 1, maxLength: 20 })
  .map((all) => all.map(({ start, length }) => ({ start, end: start + length })))

describe('the scale of time', () => {
  it('keeps the order of times and stays within the picture, for any spans', () => {
    fc.assert(
      fc.property(spans, fc.array(fc.nat(110_000)), (work, times) => {
        const whole = { start: 0, end: Math.max(...work.map(({ end }) => end)) }
        const { at } = scaleOf(work, whole)
        const places = times.toSorted((a, b) => a - b).map(at)
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        for (const place of [...places, at(0), at(whole.end)]) expect(place >= 0 && place <= 100.000001).toBe(true)
        // Of no time at all every place is the first.
        expect([at(0), at(whole.end)]).toEqual([0, expect.closeTo(whole.end > 0 ? 100 : 0, 6)])
      }),
    )
  })

  it('has ticks in order, within the picture and outside of breaks, for any spans', () => {
    fc.assert(
      fc.property(spans, (work) => {
        const whole = { start: 0, end: Math.max(...work.map(({ end }) => end)) }
        const scale = scaleOf(work, whole)
        const ticks = ticksOf(whole, scale)
        expect(ticks.length).toBeLessThanOrEqual(10 + scale.breaks.length)
        for (const { x, time } of ticks) {
          expect(x >= 0 && x <= 100.000001).toBe(true)
          expect(scale.breaks.some(({ start, end }) => time > start && time < end)).toBe(false)
        }
      }),
    )
  })

  it('breaks a gap that is long beside the work, and gives the work the room', () => {
    const work = [
      { start: 0, end: 1000 },
      { start: 1_001_000, end: 1_002_000 },
    ]
    const { breaks, at } = scaleOf(work, { start: 0, end: 1_002_000 })
    expect(breaks).toEqual([{ start: 1000, end: 1_001_000, x: 48.5, width: 3 }])
    expect([at(1000), at(1_001_000), at(500)]).toEqual([48.5, 51.5, 24.25])
  })

  it('of no time at all has one place', () => {
    const { at, breaks } = scaleOf([{ start: 5, end: 5 }], { start: 5, end: 5 })
    expect([at(5), at(0), at(9), breaks]).toEqual([0, 0, 0, []])
    // Nor is there anything to shorten for.
    expect(scaleOf([{ start: 1, end: 1 }], { start: 0, end: 1 }).breaks).toEqual([])
    const log = new Recorder('s', 0).ask('go').answer({ modelMs: 0, calls: [{ name: 'look', ms: 0 }] })
    const { session, calls, tones } = analysed(log)
    const numbers = timelineOf(sceneOf(session, calls), tones)
      .marks.flat()
      .filter((part) => typeof part === 'number')
    expect(numbers.filter((part) => !Number.isFinite(part))).toEqual([])
  })

  it('leaves a short gap as it is', () => {
    expect(
      scaleOf(
        [
          { start: 0, end: 500 },
          { start: 520, end: 1000 },
        ],
        { start: 0, end: 1000 },
      ).breaks,
    ).toEqual([])
  })

  it('many breaks leave most of the room to the work', () => {
    const work = Array.from({ length: 200 }, (_none, at) => ({ start: at * 1_000_000, end: at * 1_000_000 + 10 }))
    const { breaks } = scaleOf(work, { start: 0, end: 199_000_010 })
    expect(breaks).toHaveLength(100)
    expect(breaks.reduce((sum, { width }) => sum + width, 0)).toBeLessThanOrEqual(24.0001)
  })
})

describe('the timeline', () => {
  it('has a row for the model and one for each tool, and one for the rest of very many', () => {
    const log = new Recorder('s', 0).ask('go')
    for (let index = 0; index < 30; index++) log.answer({ calls: [{ name: `tool ${index % 3 === 0 ? 0 : index}` }] })
    const { session, calls, tones } = analysed(log)
    const { rows = [], height } = timelineOf(sceneOf(session, calls), tones)
    expect(rows).toHaveLength(17)
    expect([rows[0], rows[1], rows.at(-1)]).toEqual(['model', 'tool 0', '6 other tools'])
    expect(height).toBe(40 + 17 * 26 + 22)
  })

  it('begins where the session does something', () => {
    const log = new Recorder('s', 0)
      .wait(60_000)
      .ask('go')
      .answer({ modelMs: 500, calls: [{ name: 'look', ms: 500 }] })
    const { session, calls, tones } = analysed(log)
    const { span } = sceneOf(session, calls)
    expect(span).toEqual({ start: 60_000, end: 61_000 })
    const picture = timelineOf(sceneOf(session, calls), tones)
    expect(ofClass(picture, 'break')).toEqual([])
    expect(ofClass(picture, 'tick').map(([, x, , text]) => [x, text])).toContainEqual([0, '0'])
  })

  it('numbers the calls of a run, and hatches a timeout instead', () => {
    const log = new Recorder('s', 0).ask('go')
    for (let index = 0; index < 4; index++)
      log.answer({ modelMs: 50, calls: [{ name: 'look', ms: 500, ...(index === 2 && { code: 'TOOL_TIMEOUT' }) }] })
    const { session, calls, tones } = analysed(log)
    const picture = timelineOf(sceneOf(session, calls), tones)
    expect(ofClass(picture, 'count').map(([, , , text]) => text)).toEqual(['1', '2', '4'])
    expect(ofClass(picture, 'timeout').map((mark) => mark.at(-1))).toEqual([2])
    expect(ofClass(picture, 'tone1').map((mark) => mark.at(-1))).toEqual([0, 1, 3])
  })

  it('marks a reminder over the end of its call, with a thread to it; one of no known call where it was read', () => {
    const log = new Recorder('s', 0).ask('go')
    for (let index = 0; index < 3; index++) log.answer({ modelMs: 500, calls: [{ name: 'look', ms: 500 }] })
    log.answer({ modelMs: 1000 })
    const known = analysed(log)
    const picture = timelineOf(sceneOf(known.session, known.calls), known.tones)
    expect(ofKind(picture, 'reminder')).toEqual([['reminder', 75, 28, 2]])
    expect(ofClass(picture, 'thread')).toEqual([['rule', 75, 34, 75, 84, 'thread']])
    const unknown = { ...known.session, reminders: known.session.reminders.map((reminder) => ({ ...reminder, call: undefined })) }
    const other = timelineOf(sceneOf(unknown, known.calls), known.tones)
    expect(ofKind(other, 'reminder')).toEqual([['reminder', 75, 28, expect.stringMatching(/^You are repeating/)]])
    expect(ofClass(other, 'thread')).toEqual([])
  })

  it('marks a reminder over its call, though the model read it after others of the step', () => {
    const log = new Recorder('s', 0).ask('go')
    const calls = [1, 2, 3].map(() => ({ name: 'look', ms: 100 }))
    log.answer({ modelMs: 100, calls: [...calls, { name: 'other', ms: 600 }] })
    const known = analysed(log)
    expect(ofKind(timelineOf(sceneOf(known.session, known.calls), known.tones), 'reminder')).toEqual([['reminder', 40, 28, 2]])
  })

  it('draws very many requests by neighbourhoods, those that failed apart', () => {
    const log = new Recorder('s', 0).ask('go')
    for (let index = 0; index < 2999; index++) log.answer({ modelMs: 10, ...(index === 5 && { failed: 'SERVER' }) })
    const { session, calls, tones } = analysed(log)
    const boxes = ofClass(timelineOf(sceneOf(session, calls), tones), 'model')
    expect(boxes.length).toBeLessThanOrEqual(1002)
    expect(ofClass(timelineOf(sceneOf(session, calls), tones), 'failed')).toHaveLength(1)
    const told = boxes.map((mark) => Number.parseInt(mark.at(-1) as string, 10))
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(3000)
  })

  it('puts calls of one tool that overlap below one another, four at most', () => {
    const calls = [0, 0, 0, 0, 0, 10].map((start, at) => ({ at, name: 'a', start, end: 10 }))
    expect(lanesOf(calls as never, () => 1).map(({ lane, lanes }) => [lane, lanes])).toEqual([
      [0, 4],
      [1, 4],
      [2, 4],
      [3, 4],
      [3, 4],
      [0, 4],
    ])
  })
})

describe('calls in a row', () => {
  it('are as high as their place in the run, against each threshold', () => {
    const log = new Recorder('s', 0).ask('go')
    for (let index = 0; index < 5; index++) log.answer({ calls: [{ name: 'look' }] })
    const { session, calls, tones } = analysed(log)
    const picture = runsOf(calls, session.reminders, [3, 5, 8], tones)
    expect(ofKind(picture, 'box').map(([, , y, , height]) => (y as number) + (height as number))).toEqual([130, 130, 130, 130, 130])
    const heights = ofKind(picture, 'box').map(([, , , , height]) => height as number)
    expect(heights.map((height) => Math.round((height * 9) / 110))).toEqual([1, 2, 3, 4, 5])
    expect(ofClass(picture, 'threshold')).toHaveLength(3)
    expect(picture.axis?.map(([, text]) => text)).toEqual(['0', '3', '5', '8'])
    expect(ofKind(picture, 'reminder').map((mark) => mark.at(-1))).toEqual([2, 4])
  })

  it('of thousands share bars, and lose neither their highest nor a reminder', () => {
    const { session, calls, tones } = analysed(long(3000, 3))
    const picture = runsOf(calls, session.reminders, [3, 5, 8], tones)
    expect(ofKind(picture, 'box')).toHaveLength(375)
    expect(ofKind(picture, 'reminder')).toHaveLength(session.reminders.length)
    expect(picture.axis?.at(-1)?.[1]).toBe('12')
  })

  it('of a run of thousands leave the thresholds visible', () => {
    const log = new Recorder('s', 0).ask('go')
    for (let index = 0; index < 2000; index++) log.answer({ calls: [{ name: 'look' }] })
    const { session, calls, tones } = analysed(log)
    const ys = ofClass(runsOf(calls, session.reminders, [3, 8], tones), 'threshold').map(([, , y]) => y as number)
    expect((ys[0] ?? 0) - (ys[1] ?? 0)).toBeGreaterThan(8)
  })

  it('and tokens of one call, or none, are drawn, too', () => {
    const log = new Recorder('s', 0).ask('go').answer({ input: 0, calls: [{ name: 'look' }] })
    const { session, calls, tones } = analysed(log)
    for (const picture of [
      runsOf(calls, [], [3], tones),
      tokensOf(session.requests, calls, tones),
      runsOf([], [], [3], tones),
      tokensOf([], [], tones),
    ])
      expect(picture.marks.flat().filter((part) => typeof part === 'number' && !Number.isFinite(part))).toEqual([])
    expect(sparkOf([])).toBe('')
    expect(sparkOf(calls)).toMatch(/^M0 24v-\d+h[\d.]+v\d+z$/)
  })
})

describe('parts', () => {
  it.each([
    [1, 20_000],
    [200, 100],
    [20_000, 1],
    [3, 700],
    [2, 701],
  ])('%i turns of %i calls: hold each call once, in order, and can be told apart', (turns, each) => {
    const calls = Array.from({ length: turns * each }, (_none, at) => ({ at, turn: Math.floor(at / each) + 1, count: (at % 7) + 1 }))
    const parts = partsOf(calls as never)
    expect(parts.length).toBeLessThanOrEqual(400)
    expect(parts[0]?.from).toBe(0)
    expect(parts.at(-1)?.to).toBe(calls.length)
    for (const [index, { from, to, longest }] of parts.entries()) {
      expect(to).toBe(parts[index + 1]?.from ?? calls.length)
      expect(to > from && to - from <= 1000).toBe(true)
      expect(longest).toBe(Math.min(7, Math.max(...calls.slice(from, to).map(({ count }) => count))))
    }
    expect(new Set(parts.map(({ label }) => label)).size).toBe(parts.length)
  })

  it('show their own calls, requests and reminders, and all of them together', () => {
    const { session, calls } = analysed(long(2000, 4))
    const scenes = partsOf(calls).map((part) => sceneOfPart(part, session, calls))
    expect(scenes.map(({ calls: shown }) => shown.length)).toEqual([500, 500, 500, 500])
    expect(scenes.map(({ requests }) => requests.length)).toEqual([500, 500, 500, 500])
    expect(scenes.reduce((sum, { reminders }) => sum + reminders.length, 0)).toBe(session.reminders.length)
    expect(scenes.map(({ turns }) => turns.map(({ turn }) => turn))).toEqual([[1], [2], [3], [4]])
    for (const { span, calls: shown } of scenes)
      for (const { start, end } of shown) expect(start >= span.start && end <= span.end).toBe(true)
  })
})
