import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

describe('colours', () => {
  const css = readFileSync(new URL('../../src/report/assets/colours.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, body]) => body)
  const coloursIn = (body: string): Map<string, string> =>
    new Map([...body.matchAll(/--([a-z0-9-]+): (#[\da-f]{6});/g)].map(([, name, value]) => [name as string, value as string]))
  const schemes: [string, Map<string, string>][] = [
    ['light', coloursIn(light)],
    ['dark', coloursIn(dark)],
  ]
  const tones = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tone): [string, string] => ['on', `t${tone}`])
  const words: [string, string][] = [
    ['fg', 'bg'],
    ['fg', 'band'],
    ['fg', 'odd'],
    ['fg', 'target'],
    ['mut', 'bg'],
    ['mut', 'band'],
    ['warm', 'bg'],
    ['warm-fg', 'warm-bg'],
    ['hot', 'bg'],
    ['hot', 'target'],
    ...[1, 2, 3, 4].map((tone): [string, string] => [`t${tone}`, 'band']),
    ...tones,
  ]

  it.each(schemes)('of the %s scheme are all there', (_name, colours) => {
    expect([...colours.keys()]).toEqual([...(schemes[0]?.[1] ?? new Map()).keys()])
    expect(colours.size).toBeGreaterThan(20)
  })

  it.each(schemes.flatMap(([name, colours]) => words.map(([text, ground]) => [name, text, ground, colours] as const)))(
    '%s: %s can be read on %s',
    (_name, text, ground, colours) => {
      expect(contrast(colours.get(text) ?? '', colours.get(ground) ?? '')).toBeGreaterThanOrEqual(4.5)
    },
  )

  it.each(schemes)('%s: bars and marks can be seen', (_name, colours) => {
    for (const tone of ['t0', 'mark', 'model']) {
      // A mark has a dark line around it where the ground is light.
      const seen =
        tone === 'mark'
          ? Math.max(
              contrast(colours.get(tone) ?? '', colours.get('bg') ?? ''),
              contrast(colours.get('mark-line') ?? '', colours.get('bg') ?? ''),
            )
          : contrast(colours.get(tone) ?? '', colours.get('bg') ?? '')
      expect(seen).toBeGreaterThanOrEqual(3)
    }
  })
})

/** As https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio has it. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
