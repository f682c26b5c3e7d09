/** Runs pages.ts, and prints a line of JSON for each of its tests, or the error that ended the run. */
import { fileURLToPath } from 'node:url'
import { createVitest, type TestCase } from 'vitest/node'

const vitest = await createVitest('test', {
  config: false,
  root: fileURLToPath(new URL('.', import.meta.url)),
  watch: false,
  pool: 'forks',
  include: ['pages.ts'],
  globalSetup: ['../setup.ts'],
  reporters: [{}],
})
try {
  const { testModules } = await vitest.start()
  for (const module of testModules) for (const test of module.children.allTests()) print(test)
} catch (error) {
  say({ error: String(error) })
} finally {
  await vitest.close()
}

function print(test: TestCase): void {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  const errors = result.errors?.map(({ message, diff = '' }) => `${message} ${diff}`)
  say({ name: test.name, state: result.state, note, errors })
}

function say(outcome: object): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
}
