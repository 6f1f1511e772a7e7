// Obeys lines on standard input: `create <id> [<at>]`, `load <id> [<at>]` (not before that time), `close`. Answers each with a line.
import { createInterface } from 'node:readline'
import { Context } from '@deepseek-ai/cordis'
import { codeOf } from '@loopguard/llm'
import SessionStore, { type Session } from '@loopguard/session'

const [directory = ''] = process.argv.slice(2)
const ctx = new Context()
await ctx.plugin(SessionStore, { directory })
const store = ctx.sessions
const held: Session[] = []
console.log('ready')

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, id = '', at = '0'] = line.split(' ')
  while (Date.now() < Number(at));
  console.log(await obey(verb, id))
}

async function obey(verb: string | undefined, id: string): Promise<string> {
  try {
    if (verb === 'close') for (const session of held.splice(0)) session.close()
    else held.push(verb === 'create' ? store.create(id) : await store.load(id))
    return 'done'
  } catch (refused) {
    return codeOf(refused) ?? String(refused)
  }
}
