// The last lines of every test run: each skipped test with its reason, then the counts alone on one line.
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

export class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    const lines: string[] = []
    for (const module of modules) {
      // A file or a hook that breaks outside its tests would otherwise be counted nowhere.
      if (module.errors().length > 0) counts.failed += 1
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        counts[state === 'pending' ? 'skipped' : state] += 1
        if (state === 'skipped' || state === 'pending')
          lines.push(`skipped: ${module.relativeModuleId} > ${test.fullName}: ${reasonOf(test)}`)
      }
    }
    lines.push(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
    process.stdout.write(`${lines.join('\n')}\n`)
  }
}

/** The reason is what the test gave to `context.skip(reason)`. */
function reasonOf(test: TestCase): string {
  const result = test.result()
  if (result.state === 'pending') return 'never ran'
  return (result.state === 'skipped' && result.note) || (test.options.mode === 'todo' ? 'todo' : 'no reason given')
}
