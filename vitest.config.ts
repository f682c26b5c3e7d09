import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { CountsReporter } from './test/reporter.ts'

// The threads of the engine take their stripped sources from here: see test/warmUp.ts.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('./node_modules/.cache/millrace', import.meta.url))

export default defineConfig({
  test: {
    // better-sqlite3 is a native module: each test file gets a process of its own.
    globalSetup: ['./test/warmUp.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // What hangs: a machine that is slow, or busy with other work, is no failure.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', new CountsReporter()],
    projects: [
      {
        extends: true,
        test: { name: 'unit', setupFiles: ['./test/quiet.ts'], include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts'] },
      },
      { extends: true, test: { name: 'rules', include: ['test/rules/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'system',
          setupFiles: ['./test/quiet.ts'],
          include: ['test/**/*.test.ts'],
          exclude: ['test/rules/**', '**/node_modules/**'],
        },
      },
    ],
  },
})
