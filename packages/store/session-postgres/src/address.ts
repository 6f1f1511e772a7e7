import { HarnessError } from '@loopguard/kit'

/** Where a database is. */
export interface Address {
  /** For the driver alone: it may hold a password. */
  readonly connectionString: string
  /** For people: without password and options. */
  readonly shown: string
}

export interface AddressConfig {
  readonly url?: string
  readonly urlEnv?: string
}

/**
 * The database that a configuration names. No message holds what an environment variable holds.
 * @throws HarnessError `BAD_DATABASE`
 */
export function addressOf({ url, urlEnv }: AddressConfig, env: NodeJS.ProcessEnv = process.env): Address {
  if ((url === undefined) === (urlEnv === undefined)) {
    throw bad(`give \`url\` or \`urlEnv\`, ${url === undefined ? 'one of them' : 'not both'}`)
  }
  if (url !== undefined) {
    const parsed = parse(url, '`url`')
    if (hasPassword(parsed)) {
      throw bad(`\`url\` holds a password: put the URL into an environment variable, and give its name as \`urlEnv\``)
    }
    return { connectionString: url, shown: shownOf(parsed) }
  }
  const value = env[urlEnv as string]
  if (value === undefined || value.trim() === '') throw bad(`the environment variable ${urlEnv} (\`urlEnv\`) is empty`)
  return { connectionString: value, shown: shownOf(parse(value, `the environment variable ${urlEnv} (\`urlEnv\`)`)) }
}

const WANTED = 'must be a URL such as postgres://user@host:5432/database'

/** What the parser throws holds the URL, so it goes nowhere. */
function parse(text: string, where: string): URL {
  const parsed = URL.canParse(withHost(text)) ? new URL(withHost(text)) : undefined
  if (parsed === undefined || !/^postgres(?:ql)?:$/.test(parsed.protocol)) throw bad(`${where} ${WANTED}`)
  return parsed
}

/** `postgres://user@/db?host=/folder`, the usual way to name a socket, is no URL for the parser of Node. */
const withHost = (text: string): string => text.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?#])/, '$1socket')

function hasPassword({ password, searchParams }: URL): boolean {
  return password !== '' || searchParams.has('password')
}

function shownOf({ protocol, username, host, pathname, searchParams }: URL): string {
  const folder = searchParams.get('host')
  return `${protocol}//${username === '' ? '' : `${username}@`}${folder ?? host}${pathname}`
}

function bad(why: string): HarnessError {
  return new HarnessError(`session-postgres: ${why}`, 'BAD_DATABASE')
}
