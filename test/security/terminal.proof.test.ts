// Attack 14: values that would draw on the terminal of whoever looks at them, or pass for other rows, through the real commands.
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Ended, Place } from '../app/millrace.ts'
import { welcomed } from '../remote/rawClient.ts'

const LONG = 300_000
const HANDLERS = fileURLToPath(new URL('./programs/hostileHandlers.ts', import.meta.url))

/** A colour, a screen that is cleared, a title, a bell, C1's own CSI, DEL, a row of its own by each kind of line break, text turned round. */
const HOSTILE =
  '\u001b[31mred\u001b[2J\u001b]0;title\u0007\u009b2Jc1\u007f\r\nfake: row\u2028fake: row\u2029fake: row\u0085\u202eeurt\u2066x\u200f'
const SHOWN =
  '\\x1b[31mred\\x1b[2J\\x1b]0;title\\x07\\x9b2Jc1\\x7f\\r\\nfake: row\\u2028fake: row\\u2029fake: row\\x85\\u202eeurt\\u2066x\\u200f'
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out.
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

/** With colours asked for: those of the program's own, and no other. */
function checkSafe({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>, what: string): void {
  for (const text of [stdout, stderr]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a style of the program begins with.
    expect(text.replace(/\u001b\[(?:1|2|22|31|32|33|36|39)m/g, ''), what).not.toMatch(RAW)
    expect(text, what).not.toMatch(/^\s*fake: row/m)
    expect(text, what).not.toContain('\u001b[31mred')
  }
}

async function attacked(place: Place): Promise<{ readonly failed: string; readonly keyed: string }> {
  const worker = place.start('worker', 'start', '--handlers', HANDLERS, '--verbose')
  await worker.said(/is ready/)
  const data = JSON.stringify({ text: HOSTILE })
  const failed = await place.run('enqueue', 'hostile', data, '--tag', HOSTILE, '--wait', '--json')
  expect(failed.code).toBe(1)
  expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'JOB_FAILED' } })
  const keyed = (
    await place.ok('enqueue', 'none', '--unique', HOSTILE, '--concurrency-key', HOSTILE, '--meta', data, '--tag', HOSTILE)
  ).trim()
  await place.ok('enqueue', 'none', '--idempotency-key', HOSTILE)
  await place.ok('queues', 'pause', 'default', '--key', HOSTILE)
  checkSafe(await place.run('enqueue', 'returning', data, '--wait'), 'enqueue --wait')
  worker.child.kill('SIGTERM')
  const { stderr } = await worker.ended
  checkSafe({ stdout: worker.lines.map((line) => `${line}\n`).join(''), stderr }, 'the lines of a worker')
  expect(worker.lines.join('\n')).toContain(`${SHOWN}: ${SHOWN}`)
  const [job] = (await place.okJson('jobs', 'list', '--name', 'hostile'))['jobs'] as { id: string }[]
  return { failed: job?.id as string, keyed }
}

test('what a job says of itself is text, in every view: no byte of it reaches the terminal as it is', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  place.env['FORCE_COLOR'] = '1'
  const { failed, keyed } = await attacked(place)
  // One that says who it is as no engine of ours would.
  const stranger = await welcomed(place.url as string)
  stranger.send({
    type: 'requests',
    requests: [
      {
        id: 1,
        command: {
          op: 'attach',
          held: [],
          session: {
            uuid: 'stranger',
            worker: HOSTILE,
            host: HOSTILE,
            pid: 1,
            local: false,
            minConcurrency: 1,
            maxConcurrency: 1,
            abortGrace: 1_000,
            handlers: [{ name: 'unserved', defaults: {} }],
          },
        },
      },
    ],
  })
  await stranger.said('delivery')
  // First of all: it answers no ping, and is gone after a while.
  const workers = await place.run('workers', 'list')
  checkSafe(workers, 'workers list')
  expect(workers.stdout).toContain(SHOWN)
  expect(workers.stdout.trim().split('\n')).toHaveLength(2)

  const shown = await place.run('jobs', 'show', failed)
  expect(shown.stdout).toContain(SHOWN)
  for (const args of [
    ['jobs', 'show', failed],
    ['jobs', 'show', keyed],
    ['jobs', 'logs', failed],
    ['jobs', 'list'],
    ['jobs', 'list', '--all'],
    ['dlq', 'list'],
    ['events'],
    ['stats'],
    ['status'],
    ['top'],
    ['workers', 'list'],
    ['queues', 'list'],
    ['queues', 'show', 'default'],
  ])
    for (const json of [[], ['--json']]) {
      const ended = await place.run(...args, ...json)
      expect(ended.code, args.join(' ')).toBe(0)
      checkSafe(ended, [...args, ...json].join(' '))
    }
  checkSafe(await place.run('export'), 'export')
  // JSON says the same with other letters.
  expect(await place.okJson('jobs', 'show', failed)).toMatchObject({ tags: [HOSTILE], data: { text: HOSTILE } })
})

test('what is said back of an argument, and what errors say, is text', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  place.env['FORCE_COLOR'] = '1'
  for (const args of [
    ['queues', 'show', HOSTILE],
    ['queues', 'purge', HOSTILE],
    ['queues', 'pause', 'default', '--key', HOSTILE],
    ['enqueue', HOSTILE],
    ['enqueue', 'mail', `{"a": ${HOSTILE}`],
    ['enqueue', 'mail', '--queue', HOSTILE],
    ['schedules', 'show', HOSTILE],
    ['schedules', 'set', HOSTILE, 'job', '--every', '1h'],
    ['schedules', 'set', 'id', 'job', '--cron', HOSTILE],
    ['workers', 'stop', HOSTILE],
    ['worker', 'stop', HOSTILE],
    ['worker', 'start', '--handlers', HOSTILE],
    ['jobs', 'show', HOSTILE],
    ['jobs', HOSTILE],
    ['stats', `--${HOSTILE}`],
    ['stats', '--url', HOSTILE],
    ['config', 'get', HOSTILE],
    ['import', HOSTILE],
  ])
    checkSafe(await place.run(...args), args.join(' '))
  checkSafe(await place.feed(`{"name":"x","${JSON.stringify(HOSTILE).slice(1, -1)}":1}\n`, 'import', '-'), 'import -')
})
