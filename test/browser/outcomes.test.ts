/** How tests of pages end: by what their pages do, and without a browser. Each run is one of vitest in a process of its own. */
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'

const RUN = new URL('./programs/runPages.ts', import.meta.url)

interface Outcome {
  readonly name?: string
  readonly state?: string
  readonly note?: string
  readonly errors?: readonly string[]
  readonly error?: string
}

async function run(...variables: readonly string[]): Promise<readonly Outcome[]> {
  const { ended, lines } = startProgram(RUN, [], ['env', '-u', 'TEST_BROWSER', ...variables])
  const { stderr } = await ended
  expect(stderr).not.toMatch(/Error/)
  return lines.map((line) => JSON.parse(line) as Outcome)
}

test('a page with problems fails its test, which may have other errors', async ({ skip }) => {
  const [good, ...others] = await run()
  if (good?.state === 'skipped') skip(`no browser: ${good.note}`)
  expect(good).toEqual({ name: 'a good page', state: 'passed' })
  const problem = expect.stringMatching(/problems of the pages[\s\S]*console: wrong \(http/)
  expect(others).toEqual([
    { name: 'a bad page', state: 'failed', errors: [problem] },
    { name: 'a bad page in a test that fails', state: 'failed', errors: [expect.stringMatching(/Another page/), problem] },
    { name: 'no page', state: 'passed' },
  ])
})

test('without a browser, tests of pages are skipped and say why', async () => {
  const outcomes = await run('CHROME_PATH=/nowhere')
  const note = 'no browser: CHROME_PATH must be the path of a browser, got /nowhere'
  expect(outcomes.slice(0, 3)).toMatchObject(Array(3).fill({ state: 'skipped', note }))
  expect(outcomes[3]).toEqual({ name: 'no page', state: 'passed' })
})

test('without a browser that is required, they fail', async () => {
  const outcomes = await run('CHROME_PATH=/nowhere', 'TEST_BROWSER=required')
  const errors = [expect.stringMatching(/a browser is required \(TEST_BROWSER\): CHROME_PATH must be the path of a browser, got \/nowhere/)]
  expect(outcomes.slice(0, 3)).toMatchObject(Array(3).fill({ state: 'failed', errors }))
  expect(outcomes[3]).toEqual({ name: 'no page', state: 'passed' })
})

test('another word than required ends the run', async () => {
  expect(await run('TEST_BROWSER=require')).toEqual([{ error: 'RangeError: TEST_BROWSER must be required or unset, got require' }])
})
