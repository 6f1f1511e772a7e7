import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { AGENT, folder, HOST, run } from './cli.ts'

/** Writes down every file that is loaded, whatever loads it, until the first call or else to the end. Node 22.12 has no hooks in the same thread. */
const HOOKS = `
import { appendFileSync } from 'node:fs'
export function load(url, context, next) {
  appendFileSync('loading.txt', url + '\\n')
  return next(url, context)
}
`
const WATCH = `
import { readFileSync, writeFileSync } from 'node:fs'
import * as modules from 'node:module'
import * as hooks from './hooks.mjs'
if (modules.registerHooks === undefined) modules.register('./hooks.mjs', import.meta.url)
else modules.registerHooks(hooks)
const required = modules.createRequire(import.meta.url).cache
globalThis.writeLoaded = () => {
  globalThis.writeLoaded = () => {}
  const files = [...readFileSync('loading.txt', 'utf8').trim().split('\\n'), ...Object.keys(required)]
  writeFileSync('loaded.json', JSON.stringify(files))
}
process.on('exit', () => globalThis.writeLoaded())
`
const TOOL = `
export const name = 'tool'
export const inject = ['tools']
export function apply(ctx) {
  ctx.tools.register({
    name: 'look', description: '', execute: () => 'nothing',
    parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
  })
  ctx.on('tools/pre-execute', (exec, next) => (globalThis.writeLoaded(), next()))
}
`
const SCRIPT = '- { calls: [{ name: look, arguments: { at: here } }] }\n- { text: done }\n'

/** What a run has loaded of these, before its first call. */
async function loaded(names: readonly string[]): Promise<string[]> {
  const cwd = folder(
    {
      'hooks.mjs': HOOKS,
      'watch.mjs': WATCH,
      'tool.mjs': TOOL,
      'script.yml': SCRIPT,
      'cordis.yml': `${HOST}- { id: tool, name: ./tool.mjs }${AGENT}`,
    },
    'loopguard-loaded-',
  )
  const { code, err } = await run(['run', 'cordis.yml'], {
    cwd,
    env: { NODE_OPTIONS: `--import ${pathToFileURL(join(cwd, 'watch.mjs')).href}` },
  })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const files = JSON.parse(readFileSync(join(cwd, 'loaded.json'), 'utf8')) as string[]
  const paths = files.flatMap(sourcesOf).map((file) => file.replace('/loopguard/src/', '/loopguard/'))
  return names.filter((name) => paths.some((path) => path.includes(`/${name}`)))
}

/** What a built file was made of, as its map has it; any other file is its own source. */
function sourcesOf(file: string): string[] {
  const map = new URL(`${file}.map`, 'file:')
  if (file.includes('/node_modules/') || !existsSync(map)) return [file]
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }
  return sources.map((source) => new URL(source, map).href)
}

const OTHERS = ['acp/serve', 'audit/audit', 'chat/chat', 'completion/shells', 'logs/store', 'report/write', 'run/replay.', 'work/work']
const FOR_A_PERSON = ['live/', 'show/width', '../string-width/', '../wrap-ansi/']
const FOR_SOME = ['../ajv/', '../js-yaml/', '../cordis-plugin-include/']
const NEEDED = ['run/run', 'show/printout', '../yaml/', '../commander/']

it('a run on a pipe has loaded, before its first call, nothing that only other commands, terminals and rare rows need', async () => {
  const inPackage = (names: readonly string[]): string[] =>
    names.map((name) => (name.startsWith('../') ? name.slice(3) : `loopguard/${name}`))
  expect(await loaded(inPackage([...OTHERS, ...FOR_A_PERSON, ...FOR_SOME, ...NEEDED]))).toEqual(inPackage(NEEDED))
})
