// For each adapter a project that has it and its SDK, and nothing else of ours than what it asks for.
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectIn, inEmptyFolder, install, overrides, RESOLUTIONS, typeCheck, writeJson } from './folder.mjs'
import { bin, root } from './tarballs.mjs'

/** The SDK of each adapter, in the version of the adapter's development dependencies. */
const ADAPTERS = {
  'guards-ai-sdk': ['ai', 'zod'],
  'guards-claude-code': [],
  'guards-langchain': ['langchain', '@langchain/core', 'zod'],
  'guards-openai-agents': ['@openai/agents-core', 'zod'],
}

/** @returns {string[]} the faults found */
export function checkAdapters(local) {
  return ['npm', 'pnpm'].flatMap((manager) => Object.entries(ADAPTERS).flatMap(([name, sdk]) => checkAdapter(manager, name, sdk, local)))
}

function checkAdapter(manager, name, sdk, local) {
  return inEmptyFolder(`${manager}, ${name}`, (folder, step) => {
    const { devDependencies = {} } = JSON.parse(readFileSync(join(root, 'packages/adapter', name, 'package.json'), 'utf8'))
    const pins = sdk.map((one) => [one, devDependencies[one]])
    const own = ['repeat', 'timeout', name].map((one) => [`@loopguard/${one}`, local[`@loopguard/${one}`]])
    writeJson(folder, { dependencies: Object.fromEntries([...own, ...pins, types()]), ...overrides(manager, Object.fromEntries(own)) })
    cpSync(join(root, 'packages/adapter', name, 'tests/consumer'), folder, { recursive: true })
    install(manager, step)
    expectIn(step(process.execPath, ['run.mjs']), 'reminders: 0,0,0,1')

    for (const [module, resolution] of RESOLUTIONS) step(bin('tsc'), typeCheck(module, resolution))
  })
}

function types() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return ['@types/node', devDependencies['@types/node']]
}
