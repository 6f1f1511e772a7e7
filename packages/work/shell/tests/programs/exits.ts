// Runs a command in both ways, and ends without unloading anything as soon as it is told to.
import { Context } from '@deepseek-ai/cordis'
import Shell from '@loopguard/shell'

const [how, command = ''] = process.argv.slice(2)
const ctx = new Context()
await ctx.plugin(Shell)
ctx.shell.start({ command })
void ctx.shell.run({ command })
process.stdin.once('data', () => {
  if (how === 'process.exit') process.exit(0)
  throw new Error('not caught')
})
