/**
 * Runs pages.ts once for each list of variables, which are the arguments as JSON. It prints a line of JSON for each test, or for the error
 * that ended a run, with the place of its list.
 */
import { fileURLToPath } from 'node:url'
import { createVitest, type TestCase } from 'vitest/node'

for (const [run, variables] of process.argv.slice(2).entries()) await runWith(run, JSON.parse(variables) as Record<string, string>)

async function runWith(run: number, variables: Readonly<Record<string, string>>): Promise<void> {
  const before = { ...process.env }
  delete process.env['TEST_BROWSER']
  Object.assign(process.env, variables)
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
    for (const module of testModules) for (const test of module.children.allTests()) print(run, test)
  } catch (error) {
    say({ run, error: String(error) })
  } finally {
    await vitest.close()
    process.env = before
  }
}

function print(run: number, test: TestCase): void {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : undefined
  const errors = result.errors?.map(({ message, diff = '' }) => `${message} ${diff}`)
  say({ run, name: test.name, state: result.state, note, errors })
}

function say(outcome: object): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
}
