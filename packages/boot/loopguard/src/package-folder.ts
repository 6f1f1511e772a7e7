/** Where the package stands. It is said here since a build moves what is deeper: `lib/` is flat. */
export const PACKAGE_FOLDER: URL = new URL('..', import.meta.url)
