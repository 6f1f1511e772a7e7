/** What the command exits with; after a signal, it is 128 and the signal's number. */
export const EXIT = {
  completed: 0,
  loadFailed: 1,
  usage: 2,
  notCompleted: 3,
  /** What `--fail-on` names has happened. */
  troubled: 4,
  /** Standard output could not be written to. */
  outputFailed: 5,
} as const
