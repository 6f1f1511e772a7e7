import { readFileSync } from 'node:fs'
import { run } from './run.ts'

try {
  process.stdout.write(run(process.argv.slice(2), readFileSync(0, 'utf8'), process.env))
} catch (error) {
  // To Claude Code, 1 is a hook that failed: it says so and goes on. 2 would block.
  process.stderr.write(`loopguard-claude-code: ${(error as Error).message}\n`)
  process.exitCode = 1
}
