// apps/examples: small programs that need nothing beside them, run as they are.
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'

/** Programs that show what becomes of a failed attempt. */
const FAILING: ReadonlySet<string> = new Set(['retries', 'checkpoint', 'expired'])

test.each([
  [
    'keys',
    [
      'the second click: created false, the same job true',
      'a rebuild is waiting already: UNIQUE_CONFLICT',
      'o-1 paid',
      'the index is rebuilt up to change 50',
      '1 rebuild for 50 changes',
      'the index is rebuilt up to change 53',
    ],
  ],
  [
    'retries',
    [
      '/fine at attempt 1',
      '/flaky at attempt 3',
      '/busy at attempt 2',
      '/gone failed after 1 of 4: /gone is not there',
      '/down failed after 4 of 4: /down answered 500',
      '2 tried once more',
    ],
  ],
  ['simple', ['Hello Ada', 'Hello Grace', 'Hello Edsger', 'Hello Barbara', '4 jobs completed']],
  ['priority', ['draft, of priority 10', 'ticket, of priority 5', 'letter, of priority 0', 'notice, of priority 0']],
  ['shutdown', ['stopped: frames 1 and 2 are rendered', '2 frames waited in the file', 'rendered in all: 1, 2, 3, 4']],
  [
    'checkpoint',
    [
      'attempt 1 begins behind row 0',
      'attempt 2 begins behind row 200',
      '500 rows loaded',
      '{"data":{"rows":500},"checkpoint":{"done":500}}',
    ],
  ],
  [
    'expired',
    [
      'Ada answered at attempt 2',
      'attempt 1 ended with JobTimeoutError',
      'the reminder failed with JobExpiredError',
      'reminded of the meeting',
    ],
  ],
  ['threads', ['141534 primes between 500,000 and 2,500,000', 'this thread was free meanwhile: true']],
])('%s', async (name, lines) => {
  const program = startProgram(new URL(`../../apps/examples/${name}/main.ts`, import.meta.url), [])
  // Failed attempts are logged, and nothing else.
  const stderr = FAILING.has(name) ? expect.stringMatching(/^millrace warning: job '[a-z]+' failed at attempt 1 of /) : ''
  expect(await program.ended).toMatchObject({ code: 0, stderr })
  expect(program.lines).toEqual(lines)
})
