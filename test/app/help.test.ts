// What somebody sees who types the first command: help, sentences for what is not there, and what was made.
import { expect, test } from 'vitest'
import { Place } from './millrace.ts'

const LONG = 300_000

test('alone, a group shows its help, and ends well; as JSON it is an object', { timeout: LONG }, async () => {
  const place = new Place()
  for (const group of [[], ['jobs'], ['config'], ['schedules'], ['worker'], ['token']]) {
    const usage = ['Usage: millrace', ...group].join(' ')
    expect(await place.run(...group), usage).toMatchObject({ code: 0, stdout: expect.stringMatching(`^${usage} `), stderr: '' })
  }
  expect(await place.run('jobs', '--json')).toMatchObject({ code: 0, stderr: '' })
  expect(await place.okJson('jobs')).toMatchObject({
    usage: 'millrace jobs [options] [command]',
    commands: expect.arrayContaining([{ name: 'list', description: 'List jobs, newest first' }]),
  })
  expect(await place.okJson('--version')).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
})

test('help is in groups, with where to start; each command shows an example, and the flags of all', { timeout: LONG }, async () => {
  const place = new Place()
  const main = await place.ok('--help')
  const headings = ['Run:', 'Jobs:', 'Queues:', 'Schedules:', 'Workers:', 'Operate:', 'Start here:']
  expect(main.split('\n').filter((line) => headings.includes(line))).toEqual(headings)
  for (const args of [['enqueue'], ['top'], ['worker', 'start'], ['demo', 'producer'], ['config', 'set']]) {
    const help = await place.ok(...args, '--help')
    expect(help, args.join(' ')).toMatch(new RegExp(`Examples:\n.*millrace ${args.join(' ')}`))
    for (const flag of ['--json', '--file <path>', '--url <url>']) expect(help, args.join(' ')).toContain(flag)
    expect(help, args.join(' ')).not.toMatch(/\(default: /)
  }
})

test('queues, workers and dlq alone list; an empty list is a sentence', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  expect(await place.ok('queues')).toBe('no queues\n')
  expect(await place.ok('workers')).toBe('no workers\n')
  expect(await place.ok('dlq')).toBe('no failed jobs\n')
  expect(await place.ok('dlq', '--queue', 'mail')).toBe('no failed jobs\n')
  expect(await place.ok('jobs', 'list')).toBe('no jobs\n')
  expect(await place.ok('jobs', 'list', '--all')).toBe('no jobs\n')
  expect(await place.ok('schedules', 'list')).toBe('no schedules\n')
  expect(await place.okJson('workers')).toEqual({ workers: [] })
  await place.ok('enqueue', 'mail')
  expect(await place.ok('queues')).toMatch(/^QUEUE .*\ndefault /)
  const missing = {
    code: 3,
    stdout: '',
    stderr: 'millrace: there is no queue mail; there are jobs named mail in queue default (NOT_FOUND)\n',
  }
  expect(await place.run('queues', 'purge', 'mail', '--yes')).toMatchObject(missing)
  expect(await place.run('queues', 'purge', 'mail', '--dry-run')).toMatchObject(missing)
  expect(await place.run('queues', 'show', 'mail')).toMatchObject(missing)
  expect(await place.ok('queues', 'purge', 'default', '--dry-run')).toBe('1 job of default would be removed\n')
})

test('a file that a command makes is named, once; migrate up is migrate', { timeout: LONG }, async () => {
  const place = new Place()
  expect(await place.run('enqueue', 'mail')).toMatchObject({ code: 0, stderr: `created ${place.file}\n` })
  expect(await place.run('enqueue', 'mail')).toMatchObject({ code: 0, stderr: '' })
  expect(await place.ok('migrate', 'up')).toMatch(/^schema \d+: nothing to do\n$/)
  expect(await place.run('migrate', 'sideways')).toMatchObject({ code: 2, stderr: expect.stringMatching(/Allowed choices are up, down/) })
  const other = new Place()
  expect(await other.run('enqueue', 'mail', '--json')).toMatchObject({ code: 0, stderr: '' })
})
