// publint and attw on the tarballs themselves: `attw --pack` would run `npm pack`, which packs something else.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { bin, root } from './tarballs.mjs'

export async function lint({ file }) {
  const found = await Promise.all([
    run('publint', ['run', file, '--strict']),
    run('attw', [file, '--profile', 'esm-only', '--no-color', '--no-emoji', '--format', 'ascii']),
  ])
  return found.flat()
}

async function run(name, args) {
  try {
    await promisify(execFile)(bin(name), args, { cwd: root })
    return []
  } catch (error) {
    return [`${name} said:\n${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`]
  }
}
