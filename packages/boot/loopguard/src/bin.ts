import { main } from './main.ts'
import { EXIT } from './run/exit-codes.ts'
import { outletOf } from './show/outlet.ts'

// No top-level await: Node would end a process that waits for nothing with a code of its own.
void main(process.argv.slice(2)).then((code) => {
  const isBroken = (): boolean => outletOf(process.stdout).isBroken
  // What a plugin left behind must not keep the process; what was written must leave it first.
  process.stdout.write('', () => process.exit(code === EXIT.completed && isBroken() ? EXIT.outputFailed : code))
})
