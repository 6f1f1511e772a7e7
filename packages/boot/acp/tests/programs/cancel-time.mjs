// How long it takes from session/cancel, sent while a tool runs, to the answer `cancelled`, and from the moment at which the tool has
// ended. On the built command: `npm run build`, then `node packages/boot/acp/tests/programs/cancel-time.mjs 200`.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'

const runs = Number(process.argv[2] ?? 100)
const folder = mkdtempSync(join(tmpdir(), 'loopguard-cancel-'))
const files = {
  'cordis.yml': `
- name: '@loopguard/llm'
- name: '@loopguard/session'
  config: { directory: sessions }
- name: '@loopguard/tools'
- name: '@loopguard/timeout-policy'
- name: '@loopguard/repeat-tool-reminder'
- name: '@loopguard/testkit/scripted-model'
  config: { script: script.yml }
- name: ./wait.mjs
- name: '@loopguard/agent-loop'
- name: '@loopguard/acp'
  config: { provider: scripted, model: any }
`,
  'script.yml': `- { calls: [{ name: wait, arguments: {} }], repeat: ${runs} }\n`,
  'wait.mjs': `
const say = (word) => process.stderr.write(word + ' ' + process.hrtime.bigint() + '\\n')
export const inject = ['tools']
export function apply(ctx) {
  ctx.tools.register({ name: 'wait', description: '', parameters: {}, execute: (_args, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => setImmediate(() => (say('ended'), reject(signal.reason))), { once: true })
    say('started')
  }) })
}
`,
}
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)

const command = fileURLToPath(new URL('../../../loopguard/bin.js', import.meta.url))
const child = spawn(process.execPath, [command, 'acp'], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] })
const heard = []
let wake = () => {}
child.stderr.on('data', (chunk) => {
  for (const line of chunk.toString().trim().split('\n')) heard.push(line.split(' '))
  wake()
})
/** When the tool has said so. */
async function told(word) {
  for (;;) {
    const at = heard.findIndex(([said]) => said === word)
    if (at >= 0) return BigInt(heard.splice(at, 1)[0][1])
    await new Promise((resolve) => (wake = resolve))
  }
}

const ms = (from, to) => Number(to - from) / 1e6
const times = { 'from session/cancel': [], 'from the end of the tool': [] }
await client({ name: 'measure' })
  .onNotification(methods.client.session.update, () => {})
  .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (acp) => {
    await acp.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
    const { sessionId } = await acp.request(methods.agent.session.new, { cwd: folder, mcpServers: [] })
    for (let run = 0; run < runs; run++) {
      const answer = acp.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] })
      await told('started')
      const sent = process.hrtime.bigint()
      await acp.notify(methods.agent.session.cancel, { sessionId })
      const { stopReason } = await answer
      const answered = process.hrtime.bigint()
      if (stopReason !== 'cancelled') throw new Error(`answered ${stopReason}`)
      times['from session/cancel'].push(ms(sent, answered))
      times['from the end of the tool'].push(ms(await told('ended'), answered))
    }
  })
child.stdin.end()
await new Promise((resolve) => child.on('exit', resolve))
rmSync(folder, { recursive: true })
for (const [what, all] of Object.entries(times)) {
  const sorted = all.toSorted((a, b) => a - b)
  const shown = (value) => `${value.toFixed(1)} ms`
  console.log(`${what}: median ${shown(sorted[Math.floor(runs / 2)])}, longest ${shown(sorted[runs - 1])}, of ${runs}`)
}
