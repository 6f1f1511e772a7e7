import { HarnessError, show } from '@loopguard/kit'
import { isAbortSignal } from './fuse.ts'
import type { ToolAgent, ToolDispatchExecution, ToolExecutionInput, ToolExecutionToken } from './types.ts'

/** While open, the signal of an execution can be assigned. Closing puts the caller's own back. */
let setOpen: (exec: Execution, open: boolean) => void
/** From now on the signal is the caller's: what is assigned is dropped, since nothing listens to it any more. */
let closeSignal: (exec: Execution) => void
/** Puts back a signal that was read from the execution before; does nothing while closed. */
let restoreSignal: (exec: Execution, signal: AbortSignal) => void

/**
 * The execution that listeners see. Frozen, so that identity is read-only in fact; what only the pipeline may do is private, and
 * not to be had from the object.
 */
class Execution implements ToolDispatchExecution {
  readonly callId: ToolExecutionInput['callId']
  readonly name: string
  readonly arguments: unknown
  readonly agent: ToolAgent | undefined
  readonly parent: ToolExecutionToken | undefined
  readonly token: ToolExecutionToken
  readonly #caller: AbortSignal
  #signal: AbortSignal
  #open = false
  #closed = false

  /** `args` must be deep-frozen already, or `undefined` for what was no JSON. */
  constructor({ callId, name, agent, parent, signal }: ToolExecutionInput, args: unknown) {
    this.callId = callId
    this.name = name
    this.arguments = args
    this.agent = agent
    this.parent = parent
    this.token = Symbol(callId)
    this.#caller = this.#signal = signal
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#signal
  }

  set signal(signal: AbortSignal) {
    if (this.#closed) return
    if (!this.#open) {
      throw new HarnessError('exec.signal can be replaced by tools/execute listeners only, while that stage runs', 'SIGNAL_READ_ONLY')
    }
    if (signal !== this.#caller && !isAbortSignal(signal))
      throw new HarnessError(`exec.signal must be an AbortSignal, got ${show(signal)}`, 'BAD_SIGNAL')
    this.#signal = signal
  }

  static {
    setOpen = (exec, open) => {
      exec.#open = open
      exec.#signal = exec.#caller
    }
    closeSignal = (exec) => {
      exec.#closed = true
      exec.#signal = exec.#caller
    }
    restoreSignal = (exec, signal) => {
      if (exec.#open && !exec.#closed) exec.#signal = signal
    }
    Object.freeze(this.prototype)
  }
}

export { closeSignal, Execution, restoreSignal, setOpen }
