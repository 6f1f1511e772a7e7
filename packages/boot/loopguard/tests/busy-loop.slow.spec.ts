import { expect, it } from 'vitest'
import { AGENT, folder, HOST, printed, start } from './cli.ts'

it('a model and a tool that never wait do not keep a signal from being served', async () => {
  const tool = `
    export const inject = ['tools']
    const busy = () => { for (const until = performance.now() + 50; performance.now() < until; ); return 'nothing new' }
    export function apply(ctx) { ctx.tools.register({ name: 'again', description: '', parameters: {}, execute: busy }) }`
  const cwd = folder({
    'cordis.yml': `${HOST}- { id: tool, name: ./tool.mjs }\n${AGENT}`,
    // By itself this takes ten seconds, and ends with 0.
    'script.yml': '- calls: [{ name: again, arguments: {} }]\n  repeat: 200\n- text: done\n',
    'tool.mjs': tool,
  })
  const child = start(['run'], { cwd })
  await printed(child, 'call: again')
  child.kill('SIGTERM')
  const { exitCode, stdout } = await child
  expect(exitCode).toBe(143)
  expect(stdout).toContain('== turn 1 ended: aborted (signal)')
})
