/** What the store asks of a database, so that an embedded one serves as well as a server. */
export interface Database {
  /** For messages: without password. */
  readonly shown: string
  /** On any free connection. */
  query<Row>(text: string, values?: readonly unknown[], options?: QueryOptions): Promise<Row[]>
  /** A connection of its own, for what belongs to one: locks and notifications. */
  connect(): Promise<Link>
  end(): Promise<void>
}

export interface QueryOptions {
  /** Prepares the statement once for each connection, under this name. */
  readonly name?: string
  /** Rejects after this long; whether the statement has taken effect is not known then. Default: waits. */
  readonly timeoutMs?: number
}

/** One connection. */
export interface Link extends Pick<Database, 'query'> {
  /** Aborts when the connection is gone. */
  readonly gone: AbortSignal
  listen(channel: string, heard: (payload: string) => void): Promise<void>
  end(): Promise<void>
}
