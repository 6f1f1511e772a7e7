import { main } from './main.ts'

// No top-level await: Node would end a process that waits for nothing with a code of its own.
void main(process.argv.slice(2)).then((code) => {
  // Whatever a plugin left behind must not keep the process; what was written must leave it first.
  process.stdout.write('', () => process.exit(code))
})
