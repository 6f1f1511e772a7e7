import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { RequestError } from '@agentclientprotocol/sdk'

/** @throws RequestError when a session cannot work there. */
export async function checkFolder(cwd: string): Promise<void> {
  if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, `cwd must be an absolute path, got ${JSON.stringify(cwd)}`)
  const stats = await stat(cwd).catch(() => undefined)
  if (stats?.isDirectory() !== true)
    throw RequestError.invalidParams({ cwd }, `cwd must be a folder that exists, got ${JSON.stringify(cwd)}`)
}

/** @throws RequestError that names every server. */
export function refuseServers(servers: readonly { readonly name: string }[]): void {
  if (servers.length === 0) return
  const names = servers.map(({ name }) => JSON.stringify(name)).join(', ')
  throw RequestError.invalidParams(
    { mcpServers: servers.map(({ name }) => name) },
    `mcpServers: ${names}: MCP servers of a client are not started here; give the agent tools by a row of its cordis.yml`,
  )
}
