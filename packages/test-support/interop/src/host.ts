// The seam between the suite and a host. It names no harness: what the suite says through it is what the guards' contract needs of one.

/** One call of the model. Text stands for arguments that were no JSON. */
export interface Call {
  readonly name: string
  readonly arguments: unknown
}

/** What a tool body gets from the suite's host. */
export interface ToolRun {
  readonly arguments: unknown
  /** The signal that the body sees, after all wrappers. */
  readonly signal: AbortSignal
  /** Makes a call inside this one. */
  nested(call: Call): Promise<Result>
  /** Concludes the turn with this call, if it succeeds. */
  conclude(): void
}

export interface Tool {
  readonly name: string
  readonly timeoutMs?: number
  run(call: ToolRun): string | Promise<string>
}

export interface TextBlock {
  readonly type: string
  readonly text?: string
}

export interface Message {
  readonly id?: unknown
  readonly role?: unknown
  readonly content: readonly TextBlock[]
  readonly source: { readonly kind: string; readonly plugin?: string }
}

/** As much of a result as all hosts share. */
export interface Result {
  readonly isError: boolean
  readonly content: readonly TextBlock[]
  readonly error?: { readonly message: string; readonly info?: { readonly name: string; readonly code: string } }
  readonly additionalContexts?: readonly Message[]
}

/** The execution as listeners see it. */
export interface Exec {
  readonly name: string
  readonly arguments: unknown
  readonly agent?: object
  readonly token?: symbol
  signal: AbortSignal
}

export interface Agent {
  /** The host's own agent object: the guards tell agents apart by it. */
  readonly handle: object
  /**
   * One turn: a message opens it, the model makes each of `steps` in its own step and then says that it is done.
   * Returns what the model reads after the opening message, a line for each thing (see `transcript.ts`).
   */
  turn(from: 'user' | 'plugin', ...steps: readonly (readonly Call[])[]): Promise<string[]>
}

type Listener = (...args: never[]) => unknown

export interface MountedHost {
  /** Registers a Cordis listener: behind the others, or in front of them. */
  on(event: string, listener: Listener, prepend?: boolean): () => void
  /** Loads a plugin; resolves when it is active, rejects with its load fault. The disposer waits until it has gone. */
  plug(plugin: object, config?: unknown): Promise<() => Promise<void>>
  tool(tool: Tool): void
  /** One call through the pipeline. Without an agent when none is given. */
  call(call: Call, options?: { readonly agent?: Agent; readonly signal?: AbortSignal }): Promise<Result>
  agent(id: string): Promise<Agent>
  /** A user-role message of a plugin, as the host's own messages are made. */
  message(plugin: string, text: string): Message
  /** Loads the host's own service `invariants`; ours, where the host has none. */
  invariants(): Promise<void>
  /** Whether a package's name is taken in that service. */
  reserved(packageName: string): Promise<boolean>
  /** Everything that the host has logged or kept about broken contracts. */
  complaints(): string[]
  dispose(): Promise<void>
}

export interface Host {
  /** Column heading. */
  readonly title: string
  /** Behaviours that this host cannot be asked for: id of the behaviour, and why. */
  readonly lacks: Readonly<Record<string, string>>
  /** Behaviours that rules of its own prevent with any guard: id of the behaviour, and the rule. */
  readonly differs: Readonly<Record<string, string>>
  mount(): Promise<MountedHost>
}
