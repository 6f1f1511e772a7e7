import { type MadeCall, Recorder } from './recorder.ts'

const TOOLS = ['read_file', 'grep', 'run_tests', 'edit_file', 'list']
const LINES = 12

/** A session of many calls: each run of four equal calls is forgotten after a while, and some get to twelve. */
export function long(calls: number, turns: number): Recorder {
  const log = new Recorder('long', Date.UTC(2026, 10, 1), 'deepseek/deepseek-v4-flash')
  const perTurn = Math.ceil(calls / turns)
  for (let made = 0; made < calls;) {
    log.ask(`Question ${made}`)
    for (let step = 0; step < perTurn && made < calls; step++, made++) {
      const isSame = made % 97 < (made % 1000 > 900 ? 12 : 4)
      const call = isSame ? failing(made) : reading(made)
      log.answer({ modelMs: 300 + ((made * 37) % 900), input: 2000 + step * 60, calls: [call] })
    }
    log.end().wait(made % 1000 === 0 ? 3_600_000 : 5000)
  }
  return log
}

function failing(made: number): MadeCall {
  const result = `FAIL case ${Math.floor(made / 97)}\n${'x'.repeat(300)}`
  return { name: 'run_tests', args: { filter: `case ${Math.floor(made / 97)}` }, result, isError: true, ms: 400 + (made % 300) }
}

function reading(made: number): MadeCall {
  const result = `// file ${made}\n${`export const value${made} = ${made}\n`.repeat(LINES)}`
  return {
    name: TOOLS[made % TOOLS.length] as string,
    args: { path: `src/file-${made % 400}.ts`, line: made },
    result,
    ms: 20 + (made % 200),
  }
}
