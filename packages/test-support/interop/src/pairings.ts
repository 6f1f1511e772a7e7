import type { Host } from './host.ts'
import type { Subject } from './subject.ts'
import { loopguard } from './subjects/loopguard.ts'
import { published } from './subjects/published.ts'

/** A pair of guards on a host: one column of the matrix. */
export interface Pairing {
  readonly subject: Subject
  readonly host: Host
}

// The two harnesses declare the same context keys with different types, so their drivers must not meet in one program: the compiler
// does not follow a specifier that it cannot read. Each driver is checked in a program of its own (see the tsconfig files).
async function load(driver: string): Promise<Host> {
  const module = (await import(`./hosts/${driver}.ts`)) as { host: Host }
  return module.host
}

export async function pairings(): Promise<Pairing[]> {
  const [own, harness, plain] = await Promise.all(['loopguard', 'deepseek-harness', 'cordis-rc10'].map(load))
  if (own === undefined || harness === undefined || plain === undefined) throw new Error('a driver has no host')
  return [
    { subject: loopguard, host: own },
    { subject: loopguard, host: harness },
    { subject: loopguard, host: plain },
    { subject: published, host: own },
    { subject: published, host: harness },
    { subject: published, host: plain },
  ]
}

/** What is to be expected of a behaviour in a pairing. */
export type Expectation = { readonly kind: 'holds' } | { readonly kind: 'differs' | 'lacks'; readonly why: string }

export function expectation({ subject, host }: Pairing, id: string): Expectation {
  const lacks = host.lacks[id]
  if (lacks !== undefined) return { kind: 'lacks', why: `${host.title}: ${lacks}.` }
  const rule = host.differs[id]
  if (rule !== undefined) return { kind: 'differs', why: `${host.title}: ${rule}.` }
  const differs = subject.differs[id]
  return differs === undefined ? { kind: 'holds' } : { kind: 'differs', why: `${subject.title}: ${differs}.` }
}
