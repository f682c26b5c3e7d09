/**
 * A process that runs test files of a copy, one request after the other: vitest stays loaded, and so does what it has transformed.
 * Each test file has a process of its own, which gets the environment of the request.
 */
import { relative } from 'node:path'
import { createVitest, type TestModule, type TestSpecification } from 'vitest/node'
import { ACTIVE, REACHED } from './mutant.ts'

export interface Request {
  /** From the copy's root, in the order in which they run. */
  readonly files: readonly string[]
  /** The mutant that is on. */
  readonly mutant?: number
  /** The folder for the reached mutants, if none is on. */
  readonly reached?: string
}

export interface Answer {
  /** Every test file that was told to run, unless a failure before it ended the run. */
  readonly ran: readonly { readonly file: string; readonly ok: boolean; readonly ms: number }[]
  /** The first test that failed, or the error outside of one. */
  readonly failure?: string
}

/** Long enough for every test on a machine with other work; a mutant that hangs is given up before. */
const TEST_MS = 45_000

class InOrder {
  shard(specifications: TestSpecification[]): TestSpecification[] {
    return specifications
  }

  sort(specifications: TestSpecification[]): TestSpecification[] {
    return specifications
  }
}

/** The modules that have ended in this run: vitest's own list also has those of earlier runs. */
const ended = new Set<TestModule>()
const vitest = await createVitest('test', {
  config: false,
  root: process.cwd(),
  watch: false,
  pool: 'forks',
  maxWorkers: 1,
  bail: 1,
  reporters: [{ onTestModuleEnd: (module) => void ended.add(module) }],
  testTimeout: TEST_MS,
  hookTimeout: TEST_MS,
  setupFiles: ['./test/quiet.ts'],
  include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'test/**/*.test.ts'],
  sequence: { sequencer: InOrder },
})
const specifications = new Map((await vitest.globTestSpecifications()).map((one) => [relative(process.cwd(), one.moduleId), one]))

process.on('disconnect', () => process.exit())
process.on('message', (request: Request) => void run(request).then((answer) => process.send?.(answer)))
process.send?.([...specifications.keys()])

async function run({ files, mutant, reached }: Request): Promise<Answer> {
  set(ACTIVE, mutant?.toString())
  set(REACHED, reached)
  // A run that looks for what is reached goes to its end.
  vitest.config.bail = reached === undefined ? 1 : 0
  const wanted = files.map((file) => specifications.get(file)).filter((one) => one !== undefined)
  ended.clear()
  const { unhandledErrors } = await vitest.runTestSpecifications(wanted)
  const modules = [...ended]
  const ran = modules.map((module) => {
    const { duration, collectDuration, environmentSetupDuration, prepareDuration, setupDuration } = module.diagnostic()
    const ms = duration + collectDuration + environmentSetupDuration + prepareDuration + setupDuration
    return { file: module.relativeModuleId, ok: module.ok(), ms: Math.ceil(ms) }
  })
  const failed = modules.find((module) => !module.ok())
  if (failed === undefined && unhandledErrors.length === 0) return { ran }
  const test = failed === undefined ? undefined : [...failed.children.allTests('failed')][0]
  return {
    ran,
    failure: `${failed?.relativeModuleId ?? 'an error outside of the tests'}${test === undefined ? '' : ` > ${test.fullName}`}`,
  }
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}
