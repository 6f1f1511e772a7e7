// Runs a command that prints more than the system lets this process write into a file, and reports what came of it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import Shell from '@loopguard/shell'

const folder = mkdtempSync(join(tmpdir(), 'loopguard-shell-test-'))
process.env['TMPDIR'] = folder
const ctx = new Context()
await ctx.plugin(Shell, { maxOutputBytes: 10 })
const result = await ctx.shell.run({ command: 'yes | head -c 1000000' })
const files = readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)))
process.stdout.write(JSON.stringify({ result, files }))
await ctx.fiber.dispose()
rmSync(folder, { recursive: true })
