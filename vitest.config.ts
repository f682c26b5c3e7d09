import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { useBuilt } from './test/built.ts'
import { CountsReporter } from './test/reporter.ts'
import { beginRun } from './test/run/run.ts'

useBuilt()
beginRun()

/** Those of templates run here as in the projects that are made of them. */
const UNITS = ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'apps/create-millrace/templates/*/src/**/*.test.ts']
const NOT_OURS = '**/node_modules/**'
/**
 * Tests that take long: they kill, starve and fill up, wait, measure, pack and install, or ask the same at one more place. `pnpm test` leaves
 * them to `pnpm proof`. Outside of these folders, the name of a file says that it is one.
 */
const LONG = ['test/{bench,consumers,image,limits,overload,proof}/**/*.test.ts', 'test/**/*.proof.test.ts']
/** Tests that ask at more places what others ask at one. Only `pnpm test:all` runs them, and it tries all places of files that try a sample. */
const MORE = ['{packages,apps}/*/src/**/*.all.test.ts', 'test/**/*.all.test.ts']
/** Tests of pages in a real browser, which test/browser finds. Each of their processes starts one. */
const PAGES = ['test/{browser,dashboard,site}/**/*.test.ts']
/** Tests on the Postgres that test/postgres starts: one for all of them. */
const ON_POSTGRES = ['test/postgres/**/*.test.ts']
/** A module that one file replaces would stay so for the next. */
const REPLACING = filesWith(/\bvi\.(?:mock|doMock)\(/, UNITS)
/** A test of what its process costs would count what other files have left in it. */
const MEASURING = filesWith(/\bprocess\.cpuUsage\(/, ['test/**/*.test.ts'])
/** Properties are tried many times: in every run, and more often in `pnpm proof` (packages/testkit/src/testing/runs.ts). */
const REPEATED = filesWith(/\b(?:runs\(|STRIDE\b)/, [...UNITS, 'test/**/*.test.ts'])
/** Tests that try a sample of their combinations, and all of them in `pnpm test:all`. */
const SAMPLING = filesWith(/\bsampled\(/, [...UNITS, 'test/**/*.test.ts'])

const IN_BROWSER = { globalSetup: ['./test/browser/setup.ts'], isolate: false }
/** The test files of one process share its threads. */
const SHARING_THREADS = { isolate: false, setupFiles: ['./test/quiet.ts', './test/writers.ts'] }
const WITH_POSTGRES = { globalSetup: ['./test/postgres/setup.ts'] }
const OFTEN = { env: { PROOF: '1' } }

const longOf = (globs: readonly string[]): string[] => globs.map((glob) => glob.replace(/\.test\.ts$/, '.proof.test.ts'))

function inMode<
  P extends { readonly test: { readonly name: string; readonly include: readonly string[]; readonly exclude?: readonly string[] } },
>(mode: string, project: P): P {
  const { test } = project
  const include = mode === 'rest' ? filesOf(test.include).filter(isMore) : test.include
  const exclude = [...(test.exclude ?? []), ...(mode === 'test' ? MORE : [])]
  return { ...project, test: { ...test, include, exclude } }
}

const isMore = (file: string): boolean => file.endsWith('.all.test.ts') || SAMPLING.includes(file)

function filesOf(globs: readonly string[]): string[] {
  return globSync(globs, { exclude: [NOT_OURS] }).map((file) => file.replaceAll('\\', '/'))
}

function filesWith(pattern: RegExp, globs: readonly string[]): string[] {
  return filesOf(globs).filter((file) => pattern.test(readFileSync(file, 'utf8')))
}

/** The mode `all` is that of `pnpm test:all`; `rest` is what it has beyond `pnpm test`. */
export default defineConfig(({ mode }) => ({
  test: {
    env: mode === 'test' ? {} : { TEST_ALL: '1' },
    globalSetup: ['./test/warmUp.ts'],
    setupFiles: ['./test/quiet.ts', './test/cost/meter.ts'],
    pool: 'forks',
    unstubEnvs: true,
    // Many tests wait for processes that they have started.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // For tests that hang: a machine that is slow, or busy with other work, is no failure.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // The output of a test is shown if the test fails.
    silent: 'passed-only',
    reporters: [new CountsReporter()],
    projects: [
      { extends: true, test: { name: 'unit', include: UNITS, exclude: [...REPLACING, NOT_OURS], isolate: false } },
      { extends: true, test: { name: 'unit alone', include: REPLACING } },
      { extends: true, test: { name: 'rules', include: ['test/rules/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: ['test/rules/**', ...MEASURING, ...PAGES, ...ON_POSTGRES, ...LONG, NOT_OURS],
          isolate: false,
          setupFiles: ['./test/writers.ts'],
        },
      },
      { extends: true, test: { name: 'system alone', include: MEASURING, exclude: [...LONG, NOT_OURS] } },
      { extends: true, test: { name: 'browser', include: PAGES, exclude: [...LONG, NOT_OURS], ...IN_BROWSER } },
      {
        extends: true,
        test: { name: 'postgres', include: ON_POSTGRES, exclude: [...LONG, NOT_OURS], ...WITH_POSTGRES, ...SHARING_THREADS },
      },
      {
        extends: true,
        test: { name: 'proof', include: [...LONG, ...REPEATED], exclude: [...PAGES, ...ON_POSTGRES, NOT_OURS], ...OFTEN },
      },
      { extends: true, test: { name: 'proof browser', include: longOf(PAGES), exclude: [NOT_OURS], ...IN_BROWSER, ...OFTEN } },
      { extends: true, test: { name: 'proof postgres', include: longOf(ON_POSTGRES), exclude: [NOT_OURS], ...WITH_POSTGRES, ...OFTEN } },
    ].map((project) => inMode(mode, project)),
  },
}))
