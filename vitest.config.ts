import { defineConfig } from 'vitest/config'

// `vitest run` tests the TypeScript sources; `vitest run --mode lib` runs the same tests on the built lib/.
export default defineConfig(({ mode }) => ({
  ssr: {
    resolve: { conditions: [...(mode === 'lib' ? [] : ['@loopguard/source']), 'module', 'node', 'development|production'] },
  },
  test: {
    // A file of the slow tier is named `*.slow.spec.ts`: `npm run test:quick` leaves it out.
    include: ['packages/*/*/tests/**/*.spec.ts', 'examples/*/tests/**/*.spec.ts', 'tests/**/*.spec.ts'],
    // The loader imports plugins by name; inlined, its import() goes through Vite and finds TypeScript sources.
    server: { deps: { inline: [/@deepseek-ai\//] } },
    // Nothing here waits for time to pass; a busy machine may still need long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { LOOPGUARD_TEST_MODE: mode === 'lib' ? 'lib' : 'source' },
    coverage: {
      provider: 'v8',
      // The guards with their companions, and the library under them: every line of every file.
      include: ['packages/{util,guard}/*/src/**/*.ts'],
      reporter: ['text'],
      thresholds: { perFile: true, 100: true },
    },
  },
}))
