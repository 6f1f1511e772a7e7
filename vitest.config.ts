import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { chromiumPath } from './scripts/chromium.mjs'
import { postgresBin } from './scripts/postgres.mjs'

const SPECS = ['packages/*/*/tests/**/*.spec.ts', 'examples/*/tests/**/*.spec.ts', 'tests/**/*.spec.ts']
/** The slow tier: what `npm run test:quick` leaves out. */
const SLOW = '**/*.slow.spec.ts'
/** Tests in a real browser, and those on a Postgres server, which are no tests where there is none. */
const BROWSER = '**/*browser.slow.spec.ts'
const SERVER = '**/*.pg.slow.spec.ts'
/** Two at least: of two cores Vitest would use one. */
const WORKERS = Math.max(2, availableParallelism() - 1)

// `vitest run` tests the TypeScript sources; `vitest run --mode lib` runs the same tests on the built lib/, `--mode quick` the quick tier.
export default defineConfig(({ mode }) => {
  // Not `module`, which Vite would add: Node itself gets the conditions too, and what some packages have there is for bundlers.
  const ssr = {
    resolve: { conditions: [...(mode === 'lib' ? [] : ['@loopguard/source']), 'node', 'development|production'] },
  }
  const test = {
    // The loader imports plugins by name; inlined, its import() goes through Vite and finds TypeScript sources.
    server: { deps: { inline: [/@deepseek-ai\//] } },
    // Nothing here waits for time to pass; a busy machine may still need long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: {
      LOOPGUARD_TEST_MODE: mode === 'lib' ? 'lib' : 'source',
      // No test needs a network, and none of what other people's loops tell their makers.
      MASTRA_TELEMETRY_DISABLED: '1',
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    },
  }
  const coverage = {
    provider: 'v8' as const,
    // The guards and the caps with their companions, and the library under them: every line of every file.
    include: ['packages/{util,guard,cap}/*/src/**/*.ts'],
    reporter: ['text'],
    thresholds: { perFile: true, 100: true as const },
  }
  return mode === 'quick'
    ? { test: { maxWorkers: WORKERS, projects: quick().map((tier) => ({ ssr, test: { ...test, ...tier } })) } }
    : {
        ssr,
        test: {
          ...test,
          include: SPECS,
          exclude: ['**/node_modules/**', ...withoutBrowser(), ...withoutServer()],
          maxWorkers: WORKERS,
          coverage,
        },
      }
})

function withoutBrowser(): string[] {
  if (chromiumPath() !== undefined) return []
  console.error('NOT RUN: the tests of pages in a browser. They need chromium; CHROMIUM names one that stands elsewhere.')
  return [BROWSER]
}

function withoutServer(): string[] {
  if (postgresBin() !== undefined) return []
  console.error('NOT RUN: the tests on a Postgres server. They need the programs of one, 15 or newer.')
  return [SERVER]
}

/** Files share a process and what it has loaded, which is three times as fast; all but those that replace a module. */
function quick(): { name: string; isolate: boolean; include: string[]; exclude: string[] }[] {
  const replacing = specsBelow('.').filter((path) => /^vi\.mock\(/m.test(readFileSync(path, 'utf8')))
  return [
    { name: 'shared', isolate: false, include: SPECS, exclude: ['**/node_modules/**', SLOW, ...replacing] },
    { name: 'alone', isolate: true, include: replacing, exclude: [SLOW] },
  ]
}

function specsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return /^(?:node_modules|lib|\..*)$/.test(entry.name) ? [] : specsBelow(path)
    return path.endsWith('.spec.ts') ? [path] : []
  })
}
