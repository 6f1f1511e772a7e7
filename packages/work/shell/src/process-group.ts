import { readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '@loopguard/kit'

const groups = new Set<ProcessGroup>()

/** Nothing outlives this process, however it exits. */
function killAll(): void {
  for (const group of groups) group.signal('SIGKILL')
}

/**
 * The process group that a child leads which was spawned detached. Its number stays taken as long as a process of it is there; once the
 * group is known to be empty it is never signalled again, since the number may be another one's by then.
 */
export class ProcessGroup {
  private readonly id: number
  private isEmpty = false

  constructor(leader: number) {
    this.id = leader
    if (groups.size === 0) process.on('exit', killAll)
    groups.add(this)
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isEmpty) this.send(signal)
  }

  /** Whether a process of the group still runs, its leader aside once that has exited. A zombie does not run. */
  hasLiveMember(): boolean {
    if (this.isEmpty || !this.send(0)) return false
    if (livingIn(this.id) === false) this.isEmpty = true
    return !this.isEmpty
  }

  /** Ends what is left of the group and forgets it. */
  end(): void {
    this.signal('SIGKILL')
    this.isEmpty = true
    groups.delete(this)
    if (groups.size === 0) process.off('exit', killAll)
  }

  /** Whether there was a process to send it to. */
  private send(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.id, signal)
    } catch (error) {
      // Anything else, EPERM say, means that there is one.
      this.isEmpty = codeOf(error) === 'ESRCH'
      return !this.isEmpty
    }
  }
}

/** Whether a process of that group is neither dead nor a zombie that waits for its parent; `undefined` where there is no /proc to ask. */
function livingIn(group: number): boolean | undefined {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return undefined
  }
  return names.some((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      // After the name of the program, which may hold anything: state, parent, group.
      const [state, , id] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3)
      return Number(id) === group && state !== 'Z' && state !== 'X'
    } catch {
      return false
    }
  })
}
