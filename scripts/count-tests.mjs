// Adds up vitest's JSON reports and closes with the plain line `N passed, N failed`. A report that is missing is a failure.
import { readFileSync } from 'node:fs'

let passed = 0
let failed = 0
let missing = 0
for (const file of process.argv.slice(2)) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'))
    passed += report.numPassedTests
    failed += report.numFailedTests
    // A file that could not even be collected has no tests to count, and is a failure all the same.
    if (!report.success && report.numFailedTests === 0) failed += Math.max(1, report.numFailedTestSuites)
  } catch (error) {
    missing++
    console.error(`no report ${file}: ${error.message}`)
  }
}
console.log(`${passed} passed, ${failed + missing} failed`)
process.exit(failed + missing > 0 || passed === 0 ? 1 : 0)
