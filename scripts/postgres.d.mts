export interface PostgresServer {
  /** What the server has, and its socket. */
  readonly folder: string
  readonly port: number
  /** Over the socket, without a password. */
  readonly url: string
  /** Over TCP, with the password. */
  readonly tcp: string
  start(): Promise<void>
  halt(): Promise<void>
  stop(): Promise<void>
}
export const PASSWORD: string
export function postgresBin(): string | undefined
export function startPostgres(options?: { readonly settings?: readonly string[] }): Promise<PostgresServer>
