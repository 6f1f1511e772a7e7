// Projects outside of the repository that install the tarballs, run what the documents show, and compile.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { checkAdapters } from './adapters.mjs'
import { expectIn, inEmptyFolder, install, overrides, RESOLUTIONS, typeCheck, writeJson } from './folder.mjs'
import { bin, root } from './tarballs.mjs'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const pinned = (name) => ({ [name]: manifest.devDependencies[name] })

/** @returns {string[]} the faults found */
export function checkConsumers(tarballs) {
  const local = Object.fromEntries(tarballs.map(({ manifest: { name }, file }) => [name, `file:${file}`]))
  return [...checkOwnHost('npm', local), ...checkOwnHost('pnpm', local), ...checkHarness(local), ...checkAdapters(local)]
}

/** Our host with the guard rows of the README. */
function checkOwnHost(manager, local) {
  return inEmptyFolder(`${manager}, our host`, (folder, step) => {
    writeJson(folder, {
      dependencies: { ...local, ...pinned('@deepseek-ai/cordis'), ...pinned('@types/node') },
      ...overrides(manager, local),
    })
    cpSync(join(root, 'scripts/release/consumer'), folder, { recursive: true })
    cpSync(join(root, 'examples/looping-agent/tools.mjs'), join(folder, 'tools.mjs'))
    writeFileSync(join(folder, 'cordis.yml'), stringify(composition()))
    install(manager, step)
    const output = step('node_modules/.bin/loopguard', ['run', 'cordis.yml'])
    expectIn(output, 'You are repeating the exact same tool call with identical arguments.')
    expectIn(output, 'tool call timed out after 250ms')
    for (const [module, resolution] of RESOLUTIONS) step(bin('tsc'), typeCheck(module, resolution))
  })
}

/** The published DeepSeek Harness with its guards' names leading to ours, booted by the stock `cordis` command. */
function checkHarness(local) {
  return inEmptyFolder('npm, DeepSeek Harness', (folder, step) => {
    const example = join(root, 'examples/deepseek-harness')
    const { dependencies } = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8'))
    const aliases = Object.entries(dependencies).flatMap(([name, range]) => {
      const [, alias] = /^workspace:(@loopguard\/[^@]+)@/.exec(range) ?? []
      return alias === undefined ? [] : [[name, alias]]
    })
    for (const [name, alias] of aliases) dependencies[name] = local[alias]
    // What the guards stand on, and the registry of their companions.
    const names = ['timeout', 'repeat', 'advisory', 'kit', 'cordis-internals', 'invariants'].map((name) => `@loopguard/${name}`)
    const needed = names.map((name) => [name, local[name]])
    writeJson(folder, { dependencies: { ...dependencies, ...Object.fromEntries(needed) } })
    for (const file of ['cordis.yml', 'conversation.mjs', 'model.mjs', 'tools.mjs']) cpSync(join(example, file), join(folder, file))
    install('npm', step)
    for (const [name, alias] of aliases) {
      const installed = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'))
      if (installed.name !== alias) throw new Error(`${name} leads to ${installed.name}`)
    }
    const output = step(process.execPath, ['node_modules/@deepseek-ai/cordis/bin.js'])
    expectIn(output, '- consecutive_calls: 5')
    expectIn(output, 'tool call timed out after 250ms')
    expectIn(output, 'end      completed')
  })
}

/** The rows of the root composition, the guards' replaced by those that the README shows, with a shorter script. */
function composition() {
  const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block]) => parse(block))
  const shown = blocks.find((rows) => Array.isArray(rows) && rows.some(({ name }) => name === '@loopguard/timeout-policy'))
  if (shown === undefined) throw new Error('the README shows no list of plugins with the guards')
  const names = new Set(shown.map(({ name }) => name))
  const rows = parse(readFileSync(join(root, 'cordis.yml'), 'utf8')).filter(({ name }) => !names.has(name))
  const at = rows.findIndex(({ name }) => name === '@loopguard/agent-loop')
  rows.splice(at, 0, ...shown)
  return rows.map((row) => {
    if (row.name.startsWith('.')) return { ...row, name: './tools.mjs' }
    if (row.name === '@loopguard/testkit/scripted-model') return { ...row, config: { ...row.config, script: 'script.yml' } }
    return row
  })
}
