import { fitted } from '../show/width.ts'
import type { Style } from '../show/terminal.ts'
import { BottomLine, type TerminalStream } from './bottom-line.ts'

export { waitingFor } from './words.ts'

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const FRAME_MS = 100

export interface LiveLineOptions {
  /** Where the printout goes. */
  readonly stream: TerminalStream
  /** Where else something is written that the same person reads. */
  readonly others?: readonly TerminalStream[]
  readonly style: Style
  /** What to say at the moment; `undefined` for nothing. Safe for a terminal. */
  readonly words: () => string | undefined
}

/**
 * Says on a terminal, while something runs, what is waited for and for how long. Nothing of it where the output is no terminal, or one
 * that cannot move its cursor.
 * @returns takes it away for good.
 */
export function liveLine({ stream, others, style, words }: LiveLineOptions): () => void {
  if (!style.isTerminal || !style.movesCursor) return () => {}
  const line = new BottomLine(stream, others)
  let frame = 0
  const draw = (): void => {
    const said = words()
    if (said === undefined) return line.clear()
    // The last column stays free: some terminals wrap as soon as it is taken.
    line.show(style.paint.dim(fitted(`${FRAMES.charAt(frame++ % FRAMES.length)} ${said}`, style.columns - 1)))
  }
  // It must not keep a process that nothing else keeps.
  const timer = setInterval(draw, FRAME_MS).unref()
  const clear = (): void => line.clear()
  const suspend = (): void => {
    clear()
    process.kill(process.pid, 'SIGSTOP')
  }
  // Also after a crash: its trace is printed only then.
  process.on('exit', clear).on('SIGTSTP', suspend)
  return () => {
    clearInterval(timer)
    line.close()
    process.off('exit', clear).off('SIGTSTP', suspend)
  }
}
