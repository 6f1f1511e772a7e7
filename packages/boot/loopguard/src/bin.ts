import { main } from './main.ts'
import { EXIT } from './run/exit-codes.ts'
import { outletOf } from './show/outlet.ts'

// No top-level await: Node would end a process that waits for nothing with a code of its own.
void main(process.argv.slice(2)).then((code) => {
  const isBroken = (): boolean => outletOf(process.stdout).isBroken
  // What a plugin left behind must not keep the process; what was written must leave it first. Here a failure to write is told before
  // the stream tells it.
  process.stdout.write('', (failed) => process.exit(code === EXIT.completed && (failed != null || isBroken()) ? EXIT.outputFailed : code))
})
