import type { CountedCall } from '../figures/counted.ts'

/** How a session went, small: a path of bars in a box of {@link SPARK}, each as high as the longest run of some neighbouring calls. */
export const SPARK = { width: 120, height: 24 }

const MOST_BARS = 60

export function sparkOf(all: readonly CountedCall[]): string {
  const counts = all.map(({ count }) => count).filter((count) => count > 0)
  const size = Math.max(1, Math.ceil(counts.length / MOST_BARS))
  const bars = Array.from({ length: Math.ceil(counts.length / size) }, (_none, index) =>
    counts.slice(index * size, (index + 1) * size).reduce((most, count) => Math.max(most, count)),
  )
  const most = bars.reduce((high, count) => Math.max(high, count), 8)
  const step = SPARK.width / Math.max(bars.length, MOST_BARS / 2)
  return bars
    .map((count, index) => {
      const height = Math.max(1, Math.round((SPARK.height * Math.log1p(count)) / Math.log1p(most)))
      return `M${short(index * step)} ${SPARK.height}v-${height}h${short(step * 0.8)}v${height}z`
    })
    .join('')
}

function short(value: number): number {
  return Math.round(value * 10) / 10
}
