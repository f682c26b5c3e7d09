// apps/examples: small programs that need nothing beside them, run as they are.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { perform } from './perform.ts'

/** Programs that show what becomes of a failed attempt. */
const FAILING: ReadonlySet<string> = new Set(['retries', 'checkpoint', 'expired', 'idempotent'])
/** Programs that run in a process of their own, whose end is the system's to tell. */
const ALONE: ReadonlySet<string> = new Set(['simple', 'retries'])

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
  ['idempotent', ['attempt 1: payment 1', 'attempt 2: payment 1', 'payment 1, of 1']],
  ['simple', ['Hello Ada', 'Hello Grace', 'Hello Edsger', 'Hello Barbara', '4 jobs completed']],
  ['priority', ['draft, of priority 10', 'ticket, of priority 5', 'letter, of priority 0', 'notice, of priority 0']],
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
  const path = `${name}/main.ts`
  const program = ALONE.has(name) ? startProgram(new URL(`../../apps/examples/${path}`, import.meta.url), []) : perform(path)
  // Failed attempts are logged, and nothing else.
  const stderr = FAILING.has(name) ? expect.stringMatching(/^millrace warning: job '[a-z]+' failed at attempt 1 of /) : ''
  expect(await program.ended).toMatchObject({ code: 0, stderr })
  expect(program.lines).toEqual(lines)
})

test('the snippet of docs/concepts.md is part of a program that runs', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const snippets = [...read('docs/concepts.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text = '']) => text.trimEnd())
  expect(snippets).toHaveLength(1)
  expect(read('apps/examples/idempotent/main.ts')).toContain(snippets[0])
})

test('shutdown: running jobs finish, the next start runs the others, and none has used a second attempt', async () => {
  const folder = temporaryFolder()
  const start = () => startProgram(new URL('../../apps/examples/shutdown/main.ts', import.meta.url), [folder])
  const first = start()
  await first.said(/^frame 2 begun, attempt 1$/)
  first.child.kill('SIGTERM')
  expect(await first.ended).toEqual({ code: 0, signal: null, stderr: '' })
  expect(first.lines).toContain('stopping')
  expect(first.lines.filter((line) => line.endsWith('rendered')).toSorted()).toEqual(['frame 1 rendered', 'frame 2 rendered'])

  const second = start()
  await Promise.all([3, 4].map((frame) => second.said(new RegExp(`^frame ${frame} rendered$`))))
  second.child.kill('SIGTERM')
  expect(await second.ended).toMatchObject({ code: 0, stderr: '' })
  expect(second.lines.filter((line) => line.includes('begun'))).toEqual(['frame 3 begun, attempt 1', 'frame 4 begun, attempt 1'])
})
