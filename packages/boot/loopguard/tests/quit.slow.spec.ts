import { expect, it } from 'vitest'
import { AGENT, folder, HOST, printed, start } from './cli.ts'

const SCRIPT = '- calls: [{ name: look, arguments: {} }]\n- text: done\n'

/** A listener that never settles, which a loop waits for in spite of its bound, and an unloading that never ends. */
const STUCK = `
  export const inject = ['tools']
  export function apply(ctx) {
    ctx.tools.register({ name: 'look', description: '', parameters: {}, execute: () => 'seen' })
    ctx.on('tools/post-execute', () => new Promise((resolve) => setTimeout(resolve, 120_000)))
    ctx.effect(() => () => new Promise(() => {}))
  }`

it('quitting ends also when the loop gives nothing up, and when unloading does not end: each is named', async () => {
  const path = folder({ 'cordis.yml': `${HOST}- { id: stuck, name: ./stuck.mjs }\n${AGENT}`, 'script.yml': SCRIPT, 'stuck.mjs': STUCK })
  const child = start(['run', '--stop-limit', '100'], { cwd: path })
  await printed(child, 'call: look')
  child.kill('SIGTERM')
  const { exitCode, stderr } = await child
  const call = 'agent "worker", turn 1, step 1: the call "call_1" of the tool "look"'
  expect(exitCode).toBe(143)
  expect(stderr.split('\n')).toEqual([
    'SIGTERM: cancelling; a second one ends at once',
    `waiting for ${call}: it has not stopped, and is given up on 100 ms after the cancel`,
    `${call} did not stop; leaving`,
    expect.stringMatching(/^still unloading after 5000 ms: .*stuck \(\.\/stuck\.mjs\).*; leaving$/),
  ])
})
