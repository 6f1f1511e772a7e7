// Runs the tests with another Node, which the npm package `node` brings: node scripts/test-on-node.mjs 22 [arguments for vitest]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [version = '', ...args] = process.argv.slice(2)
if (!/^\d+(?:\.\d+){0,2}$/.test(version)) {
  console.error(`Usage: node scripts/test-on-node.mjs <version> [arguments for vitest]; got ${JSON.stringify(version)} for the version.`)
  process.exit(2)
}
const npx = (...rest) =>
  spawnSync('npx', ['-y', `node@${version}`, ...rest], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })

// Says which one it is, and that it could be had at all.
const asked = npx('--version')
const tested = asked.status === 0 ? npx('node_modules/vitest/vitest.mjs', 'run', ...args) : asked
if (tested.error) console.error(tested.error.message)
process.exit(tested.status ?? 1)
