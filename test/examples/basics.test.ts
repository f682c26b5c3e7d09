// apps/examples/keys, retries and threads: small programs, run as they are.
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'

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
  ['threads', ['141534 primes between 500,000 and 2,500,000', 'this thread was free meanwhile: true']],
])('%s', async (name, lines) => {
  const program = startProgram(new URL(`../../apps/examples/${name}/main.ts`, import.meta.url), [])
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
  expect(program.lines).toEqual(lines)
})
