/** How tests of pages end: by what their pages do, and without a browser. Each run is one of vitest, in a process that makes all of them. */
import { test as base, expect } from 'vitest'
import { startProgram } from '../program.ts'

const RUN = new URL('./programs/runPages.ts', import.meta.url)
const NOWHERE = { CHROME_PATH: '/nowhere' }
/** The variables of each run. */
const RUNS = {
  asHere: {},
  without: NOWHERE,
  required: { ...NOWHERE, TEST_BROWSER: 'required' },
  misspelt: { TEST_BROWSER: 'require' },
} as const

interface Outcome {
  readonly run: number
  readonly name?: string
  readonly state?: string
  readonly note?: string
  readonly errors?: readonly string[]
  readonly error?: string
}

type Outcomes = Readonly<Record<keyof typeof RUNS, readonly Omit<Outcome, 'run'>[]>>

const test = base.extend('outcomes', { scope: 'file' }, async (): Promise<Outcomes> => {
  const { child, ended, lines } = startProgram(
    RUN,
    Object.values(RUNS).map((variables) => JSON.stringify(variables)),
  )
  const { stderr } = await ended
  child.kill('SIGKILL')
  expect(stderr).not.toMatch(/Error/)
  const all = lines.map((line) => JSON.parse(line) as Outcome)
  const of = (name: string, at: number) => [name, all.flatMap(({ run, ...outcome }) => (run === at ? [outcome] : []))]
  return Object.fromEntries(Object.keys(RUNS).map(of)) as Outcomes
})

test('a page with problems fails its test, which may have other errors', ({ outcomes, skip }) => {
  const [good, ...others] = outcomes.asHere
  if (good?.state === 'skipped') skip(`no browser: ${good.note}`)
  expect(good).toEqual({ name: 'a good page', state: 'passed' })
  const problem = expect.stringMatching(/problems of the pages[\s\S]*console: wrong \(http/)
  expect(others).toEqual([
    { name: 'a bad page', state: 'failed', errors: [problem] },
    { name: 'a bad page in a test that fails', state: 'failed', errors: [expect.stringMatching(/Another page/), problem] },
    { name: 'no page', state: 'passed' },
  ])
})

test('without a browser, tests of pages are skipped and say why', ({ outcomes }) => {
  const note = 'no browser: CHROME_PATH must be the path of a browser, got /nowhere'
  expect(outcomes.without.slice(0, 3)).toMatchObject(Array(3).fill({ state: 'skipped', note }))
  expect(outcomes.without[3]).toEqual({ name: 'no page', state: 'passed' })
})

test('without a browser that is required, they fail', ({ outcomes }) => {
  const errors = [expect.stringMatching(/a browser is required \(TEST_BROWSER\): CHROME_PATH must be the path of a browser, got \/nowhere/)]
  expect(outcomes.required.slice(0, 3)).toMatchObject(Array(3).fill({ state: 'failed', errors }))
  expect(outcomes.required[3]).toEqual({ name: 'no page', state: 'passed' })
})

test('another word than required ends the run', ({ outcomes }) => {
  expect(outcomes.misspelt).toEqual([{ error: 'RangeError: TEST_BROWSER must be required or unset, got require' }])
})
