import { defineConfig } from 'vitest/config'
import { useBuilt } from './test/built.ts'
import { CountsReporter } from './test/reporter.ts'

useBuilt()

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
