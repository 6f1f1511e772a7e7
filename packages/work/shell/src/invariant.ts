import { readdirSync, readFileSync } from 'node:fs'
import { companion, type Companion, onDispatch } from '@loopguard/invariants/companion'
import type {} from './shell.ts'

const plugin: Companion = companion({
  name: 'shell-invariant',
  packageName: '@loopguard/shell',
  inject: ['shell'],
  install(ctx, fail) {
    const report = (complaint: string): void => {
      try {
        fail(complaint)
      } catch {
        // It is over already: a throw would only keep others from hearing of it.
      }
    }
    const running = new Set<number>()
    onDispatch(ctx, {
      'shell/spawn': (args) => {
        const { pid } = args[0] as { readonly pid: number }
        if (running.has(pid)) report(`process group ${pid} was started while its last command runs`)
        running.add(pid)
      },
      'shell/end': (args) => {
        const { pid } = args[0] as { readonly pid: number }
        running.delete(pid)
        const left = membersOf(pid)
        if (left.length > 0) report(`the command of process group ${pid} has ended, and process ${left.join(', ')} of it still runs`)
      },
    })
  },
})

export const name: string = plugin.name
export const inject: string[] = plugin.inject
/** Checks that nothing of a process group runs when its command has ended. It asks /proc, and so checks nothing where there is none. */
export const apply: Companion['apply'] = plugin.apply

function membersOf(group: number): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && runsIn(group, name))
  } catch {
    return []
  }
}

function runsIn(group: number, pid: string): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1) ?? ''
    const [, state, id] = /^(\S) -?\d+ (\d+)/.exec(status) ?? []
    return Number(id) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}
