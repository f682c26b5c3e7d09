// The programs and the commands of docs/migrate/effectum.md and docs/migrate/small-queues.md: these queues are no packages of npm.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environmentOf, ROOT, runBlocks } from '../app/shell.ts'
import { temporaryFolder } from '../temporary.ts'
import { foreignSnippets, freshFile, startMoved } from './migrate.ts'

test.each([
  [
    'effectum',
    [
      'state: scheduled',
      'told me@example.com: Time to go!',
      'cancelled: cancelled',
      'too late: true',
      ...['attempt 1: row 0', 'attempt 1: row 1', 'attempt 2: row 2', 'attempt 2: row 3'],
      'imported 4 rows',
      'run 1: the connection broke',
      'run 2: success',
      'heaviest: 6',
      'recurring: stand-up/me',
      'by tag: 1, active: 0',
    ],
  ],
  [
    'mininq',
    [
      'queue: 200',
      'created: 201, known: 200',
      'attempt 2 of queue emails: {"to":"ada"}',
      'result: 200 sent',
      'state: failed after attempt 1',
      'schedule: 201, pause: 204',
    ],
  ],
  [
    'node-miniq',
    [
      'lines: 5, skipped: 2, created: 3',
      'hello ada, client shop, attempt 1',
      'hello grace, client shop, attempt 1',
      'hello nobody, client shop, attempt 2',
    ],
  ],
])('%s', async (name, lines) => {
  const program = startMoved(`${name}/after.ts`, {}, freshFile())
  expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
  expect(program.lines).toEqual(lines)
})

test('the commands of QueueCTL, as the page has them', { timeout: 300_000 }, async () => {
  const page = readFileSync(join(ROOT, 'docs/migrate/small-queues.md'), 'utf8')
  const [block, ...others] = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
  expect(others).toEqual([])
  const folder = temporaryFolder()
  const command = `cd '${folder}'\nmillrace() { '${process.execPath}' '${join(ROOT, 'apps/millrace/dist/main.js')}' "$@"; }\n`
  const ran = await runBlocks([command, block as string], { folder, env: environmentOf(folder, {}), cwd: folder, limitMs: 240_000 })
  expect(ran).toMatchObject({ code: 0, errors: expect.stringContaining("the command 'sh' has ended with exit code 3") })
  const lines = (ran.printed[1] ?? '').trim().split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^worker-\w+ runs as process \d+/),
      expect.stringContaining('hello'),
      'it failed',
      expect.stringMatching(/ sh +default +failed +2\/2 /),
      expect.stringContaining('CommandFailedError'),
      '1 job retried',
      expect.stringMatching(/^worker-\w+ \(process \d+\) stopped$/),
    ]),
  )
})

test('the snippets of both pages are parts of the programs', () => {
  expect(foreignSnippets('effectum', ['effectum/after.ts'])).toEqual([])
  expect(foreignSnippets('small-queues', ['mininq/after.ts', 'node-miniq/after.ts', 'tinybus/after.ts'])).toEqual([])
})
