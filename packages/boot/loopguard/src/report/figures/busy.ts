import type { Span } from '../read/session.ts'

/** Spans that overlap or touch, as one; in order. */
export function merged(spans: readonly Span[]): Span[] {
  const out: { start: number; end: number }[] = []
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = out.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else out.push({ start, end: Math.max(start, end) })
  }
  return out
}

/** For how long at least one of them went on. */
export function busyMs(spans: readonly Span[]): number {
  return merged(spans).reduce((total, { start, end }) => total + end - start, 0)
}
