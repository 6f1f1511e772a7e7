// Boots the composition in this folder. It is what the `cordis` command does, and three things more: names resolve from this folder
// (the stock loader resolves them from its own, where another example's copy may lie), a row that does not start is an error, and the
// file is never written to.
import { Context } from '@deepseek-ai/cordis'
import Include from '@deepseek-ai/cordis-plugin-include'
import Loader from '@deepseek-ai/cordis-plugin-loader'

class Rows extends Include {
  import(name) {
    return name.startsWith('.') ? super.import(name) : import(name)
  }

  write() {}
}

const ACTIVE = 2
const ctx = new Context()
ctx.baseUrl = new URL('.', import.meta.url).href
ctx.logger.exporter({ levels: { default: 0 }, export: ({ name, args }) => console.error(`${name}:`, ...args) })
await ctx.plugin(Loader)
ctx.loader.builtins['include'] = Rows
await ctx.loader.create({ name: 'cordis:include', config: { path: './cordis.yml' } })
await ctx.loader.await()

const idle = [...ctx.loader.entries()].filter((entry) => entry.fiber?.state !== ACTIVE)
for (const { options } of idle) console.error(`${options.id} (${options.name}) did not start`)
// The conversation is opened in the same moment.
await new Promise((resolve) => setImmediate(resolve))
if (idle.length === 0) await Promise.all(ctx.agents.list().map((agent) => agent.whenIdle()))
await ctx.fiber.dispose()
process.exitCode = idle.length === 0 ? 0 : 1
