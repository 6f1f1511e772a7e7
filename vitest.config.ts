import { defineConfig } from 'vitest/config'

// `vitest run` tests the TypeScript sources; `vitest run --mode lib` runs the same tests on the built lib/.
export default defineConfig(({ mode }) => ({
  ssr: {
    resolve: { conditions: [...(mode === 'lib' ? [] : ['@loopguard/source']), 'module', 'node', 'development|production'] },
  },
  test: {
    include: ['packages/*/*/tests/**/*.spec.ts', 'examples/*/tests/**/*.spec.ts', 'tests/**/*.spec.ts'],
    // The loader imports plugins by name; inlined, its import() goes through Vite and finds TypeScript sources.
    server: { deps: { inline: [/@deepseek-ai\//] } },
    env: { LOOPGUARD_TEST_MODE: mode === 'lib' ? 'lib' : 'source' },
    coverage: {
      provider: 'v8',
      include: ['packages/*/*/src/**/*.ts'],
      reporter: ['text'],
    },
  },
}))
