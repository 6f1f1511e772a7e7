/**
 * The service `frontend`: somebody talks to the agents through it, in a terminal or from an editor. The program that runs the
 * composition waits until it is closed, and not until all agents are idle.
 */
export interface Frontend {
  /** Settles when whoever talked has left, and at the latest when the front end is unloaded. Agents may still be working then. */
  readonly closed: Promise<void>
  /** Nobody else is to write to standard output. */
  readonly ownsStdout: boolean
}
