/** Holds back what is written until it is known whose standard output is: a front end may take it when its row starts. */
export class HeldOutput {
  private held: string[] | undefined = []
  private isOpen = false
  private readonly target: (text: string) => void

  constructor(target: (text: string) => void) {
    this.target = target
  }

  write(text: string): void {
    if (this.held !== undefined) this.held.push(text)
    else if (this.isOpen) this.target(text)
  }

  /** Writes what was held, and all that comes. */
  open(): void {
    this.settle(true)
  }

  /** Drops what was held, and all that comes. */
  drop(): void {
    this.settle(false)
  }

  private settle(isOpen: boolean): void {
    this.isOpen = isOpen
    const { held = [] } = this
    this.held = undefined
    for (const text of held) this.write(text)
  }
}
