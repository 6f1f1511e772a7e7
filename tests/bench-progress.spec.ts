import { expect, it } from 'vitest'
import { inTurn } from '../bench/progress.mjs'

it('the benchmark says which suite of how many runs, and how long each and all have taken', () => {
  let now = 0
  const lines: string[] = []
  const run = (suite: string): void => {
    lines.push(`(${suite} runs)`)
    now += suite === 'loop' ? 12_400 : 3000
  }
  inTurn(
    ['pipeline', 'loop'],
    run,
    (line) => lines.push(line),
    () => now,
  )
  expect(lines).toEqual([
    'bench: pipeline, suite 1 of 2 ...',
    '(pipeline runs)',
    'bench: pipeline took 3 s',
    'bench: loop, suite 2 of 2, 3 s so far ...',
    '(loop runs)',
    'bench: loop took 12 s',
    'bench: 2 suites took 15 s',
  ])
})
