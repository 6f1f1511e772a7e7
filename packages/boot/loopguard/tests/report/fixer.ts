import { Recorder } from './recorder.ts'

const FAILED = `FAIL tests/parse.spec.ts > parse > trims the end
AssertionError: expected 'a ' to be 'a'
  at tests/parse.spec.ts:41:23

Tests  1 failed | 11 passed (12)`
const SOURCE = `// src/parse.ts
export function parse(text: string): string {
  return text.trimStart()
}`

/** The session of the pictures and of the examples: it runs one test over and over, waits for a page, and is asked again the next day. */
export function fixer(): string {
  const tests = { name: 'run_tests', args: { filter: 'parse' }, result: FAILED, isError: true }
  const read = { name: 'read_file', args: { path: 'src/parse.ts' }, result: SOURCE }
  const grep = { name: 'grep', args: { pattern: 'trimEnd' }, result: 'src/parse.ts:41: trimEnd' }
  const log = new Recorder('fixer', Date.UTC(2026, 10, 30, 19, 36, 46, 120), 'deepseek/deepseek-v4-flash', { exclude: ['todo_*'] })
  let input = 3_000
  const next = (more = 620): number => (input += more)
  log.ask('The test "trims the end" fails. Find out why, and fix it.')
  log.answer({
    modelMs: 1320,
    text: 'I look at the code first.',
    input: next(400),
    output: 118,
    calls: [
      { ...read, ms: 49, isParallel: true },
      { name: 'read_file', args: { path: 'tests/parse.spec.ts' }, result: '// tests/parse.spec.ts\nit("trims the end", …)', ms: 49 },
      { name: 'grep', args: { pattern: 'parse(' }, result: 'src/parse.ts:2: export function parse(text: string)', ms: 87 },
    ],
  })
  log.answer({ modelMs: 890, input: next(), output: 96, calls: [todo('find the cause', 'fix', 'test')] })
  log.answer({ modelMs: 310, input: next(), output: 41, calls: [{ ...tests, ms: 786 }] })
  log.answer({ modelMs: 640, input: next(), output: 52, calls: [todo('rerun')] })
  for (const [modelMs, ms] of [
    [520, 882],
    [610, 869],
    [420, 836],
    [380, 675],
    [720, 793],
    [350, 706],
    [290, 523],
  ] as const)
    log.answer({ modelMs, input: next(), output: 44, calls: [{ ...tests, ms }] })
  log.answer({
    modelMs: 760,
    text: 'Perhaps the changelog says something.',
    input: next(),
    output: 131,
    calls: [
      {
        name: 'web_fetch',
        args: { url: 'https://docs.test/parse' },
        result: 'Error: 404 Not Found',
        isError: true,
        ms: 363,
        isParallel: true,
      },
      {
        name: 'web_fetch',
        args: { url: 'https://slow.test/changelog' },
        result: 'Error: tool call timed out after 1500ms',
        code: 'TOOL_TIMEOUT',
        ms: 1507,
      },
    ],
  })
  log.answer({
    modelMs: 880,
    input: next(),
    output: 158,
    calls: [{ name: 'edit_file', args: { path: 'src/parse.ts', old: 'trimStart()', new: 'trim()' }, result: 'Edited.', ms: 26 }],
  })
  log.answer({
    modelMs: 410,
    input: next(),
    output: 87,
    calls: [
      { ...grep, ms: 79, isParallel: true },
      { ...grep, ms: 166, isParallel: true },
      { ...grep, ms: 166 },
    ],
  })
  log.answer({ modelMs: 930, text: 'Fixed: the end is trimmed, too.', input: next(), output: 212 }).end()
  log.wait(13 * 3_600_000 + 41 * 60_000).ask('Is it in the changelog?')
  log.answer({ modelMs: 740, input: next(), output: 64, calls: [{ ...read, ms: 46 }] })
  log.answer({ modelMs: 480, input: next(180), output: 58, calls: [{ ...read, ms: 27 }] })
  log.answer({ modelMs: 1060, text: 'No. There is no changelog.', input: next(180), output: 96 }).end()
  return log.jsonl
}

function todo(...items: string[]): { name: string; args: object; result: string; ms: number } {
  return { name: 'todo_write', args: { items }, result: 'Noted.', ms: 3 }
}
