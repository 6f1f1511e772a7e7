// publint and attw on the tarball itself: `attw --pack` would run `npm pack`, which packs something else.
import { spawnSync } from 'node:child_process'
import { bin, root } from './tarballs.mjs'

export function lint({ file }) {
  return [
    ...run('publint', ['run', file, '--strict']),
    ...run('attw', [file, '--profile', 'esm-only', '--no-color', '--no-emoji', '--format', 'ascii']),
  ]
}

function run(name, args) {
  const { status, stdout, stderr, error } = spawnSync(bin(name), args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? [] : [`${name} said:\n${error?.message ?? ''}${stdout}${stderr}`]
}
