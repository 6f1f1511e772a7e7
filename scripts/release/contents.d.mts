/** A packed package, opened. */
export interface Tarball {
  readonly manifest: object
  readonly files: readonly string[]
  read(file: string): string
}

/** What keeps the tarball from being published. */
export function checkTarball(tarball: Tarball): string[]
