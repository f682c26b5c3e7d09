/**
 * Prints a run: a line for each tenth of its files, then each failure with the command that repeats it, each skipped test with its reason,
 * files that cost more than they may, and last the counts alone on one line.
 */
import { Writable } from 'node:stream'
import { DefaultReporter, type SerializedError, type TestCase, type TestModule, type TestSpecification, type Vitest } from 'vitest/node'
import { costTable, tooDear } from './cost/costs.ts'

/** A run of fewer files shows each of them. */
const FEW = 20
/** The number of characters that are kept of what the processes of tests write to stderr. */
const KEPT_CHARACTERS = 64_000

export class CountsReporter extends DefaultReporter {
  #files = 0
  #ended = 0
  readonly #counts = { passed: 0, failed: 0, skipped: 0 }

  /** A process that dies on purpose says so on the stderr that it inherits. A run that passes does not show it. */
  #said = ''

  constructor() {
    super({ summary: false })
  }

  override onInit(vitest: Vitest): void {
    super.onInit(vitest)
    const write = (chunk: Buffer, _: BufferEncoding, done: () => void) => {
      if (this.#files < FEW) process.stderr.write(chunk)
      else this.#said = (this.#said + chunk).slice(-KEPT_CHARACTERS)
      done()
    }
    vitest.logger.errorStream = new Writable({ write })
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications)
    this.#files = specifications.length
    this.#ended = 0
    Object.assign(this.#counts, { passed: 0, failed: 0, skipped: 0 })
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module)
    // A file or a hook that breaks outside its tests would otherwise be counted nowhere.
    if (module.errors().length > 0) this.#counts.failed++
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) this.#counts.failed++
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      this.#counts[state === 'pending' ? 'skipped' : state]++
    }
    const tenth = (ended: number) => Math.floor((10 * ended) / this.#files)
    if (this.#files >= FEW && tenth(++this.#ended) > tenth(this.#ended - 1))
      this.log(`${this.#ended} of ${this.#files} files: ${this.#line()} (${Math.round((performance.now() - this.start) / 1000)} s)`)
  }

  override printTestModule(module: TestModule): void {
    if (this.#files < FEW || module.state() === 'failed') super.printTestModule(module)
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: Parameters<DefaultReporter['onTestRunEnd']>[2],
  ): void {
    if (this.#counts.failed + unhandledErrors.length > 0) process.stderr.write(this.#said)
    super.onTestRunEnd(modules, unhandledErrors, reason)
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const lines = tests
      .filter((test) => /skipped|pending/.test(test.result().state) && !this.#isUnasked(test))
      .map((test) => `skipped: ${nameOf(test)}: ${reasonOf(test)}`)
    lines.push(...tests.filter((test) => test.result().state === 'failed').map((test) => `repeat: ${commandOf(test)}`))
    if (process.env['TEST_COST'] !== undefined) lines.push(...costTable(modules))
    const dear = this.ctx.config.mode === 'test' ? tooDear(modules) : []
    lines.push(...dear)
    if (dear.length > 0) process.exitCode = 1
    this.#counts.failed += unhandledErrors.length + dear.length
    process.stdout.write(`${[...lines, this.#line()].join('\n')}\n`)
  }

  /** True if `-t` has left it out. */
  #isUnasked(test: TestCase): boolean {
    const pattern = this.ctx.config.testNamePattern
    return pattern !== undefined && !pattern.test(test.fullName.replaceAll(' > ', ' '))
  }

  #line(): string {
    const { passed, failed, skipped } = this.#counts
    return `${passed} passed, ${failed} failed, ${skipped} skipped`
  }
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`
}

/** Returns the command that runs this test alone. */
function commandOf(test: TestCase): string {
  const name = test.fullName.replaceAll(' > ', ' ').replace(/[\\^$.*+?()[\]{}|"`]/g, '.')
  return `npx vitest run --project "${test.project.name}" ${test.module.relativeModuleId} -t "${name}"`
}

/** The reason is what the test gave when it was skipped. */
function reasonOf(test: TestCase): string {
  const result = test.result()
  if (result.state === 'pending') return 'never ran'
  return (result.state === 'skipped' && result.note) || (test.options.mode === 'todo' ? 'todo' : 'no reason given')
}
