// Packs every public package and checks the very tarballs that would be published, alone and installed. Publishes nothing.
//   node scripts/pack-check.mjs [--no-consumers]
import { checkTarball } from './release/contents.mjs'
import { checkConsumers } from './release/consumers.mjs'
import { lint } from './release/linters.mjs'
import { pack } from './release/tarballs.mjs'

const faults = []
const tarballs = pack()
for (const tarball of tarballs) {
  const found = [...checkTarball(tarball), ...(await lint(tarball))]
  console.log(
    `${found.length === 0 ? 'ok  ' : 'BAD '} ${tarball.manifest.name}@${tarball.manifest.version}: ${tarball.files.length} files, ${tarball.bytes} bytes`,
  )
  faults.push(...found.map((fault) => `${tarball.manifest.name}: ${fault}`))
}
// A broken package would fail the consumers too, and hide what is wrong with others.
if (faults.length === 0 && !process.argv.includes('--no-consumers')) faults.push(...checkConsumers(tarballs))

for (const fault of faults) console.error(fault)
console.log(faults.length === 0 ? `${tarballs.length} packages are fit to publish; nothing was published` : `${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
