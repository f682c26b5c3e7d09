// What somebody sees who types the first command: help, sentences for what is not there, and what was made.
import { expect, test } from 'vitest'
import { Place } from './millrace.ts'

const LONG = 300_000

test('alone, millrace shows its help, and ends well; as JSON it is an object', { timeout: LONG }, async () => {
  const place = new Place()
  expect(await place.run()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: millrace /), stderr: '' })
  expect(await place.run('--json')).toMatchObject({ code: 0, stderr: '' })
  expect(await place.okJson()).toMatchObject({
    usage: 'millrace [options] [command]',
    commands: expect.arrayContaining([{ name: 'status', description: expect.stringMatching(/^Show the state/) }]),
  })
  expect(await place.okJson('--version')).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
  expect(await place.ok('jobs', '--help')).toMatch(
    /^Usage: millrace jobs \[options\] \[command\]\n(.|\n)* list .*newest first \(default\)\n/,
  )
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

test('a group alone lists; an empty list is a sentence', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  expect(await place.ok('queues')).toBe('no queues\n')
  expect(await place.ok('workers')).toBe('no workers\n')
  expect(await place.ok('dlq')).toBe('no failed jobs\n')
  expect(await place.ok('dlq', '--queue', 'mail')).toBe('no failed jobs\n')
  expect(await place.ok('jobs', 'list')).toBe('no jobs\n')
  expect(await place.ok('jobs')).toBe('no jobs\n')
  expect(await place.ok('schedules')).toBe('no schedules\n')
  expect(await place.ok('flows')).toBe('no flows\n')
  expect(await place.ok('jobs', 'list', '--all')).toBe('no jobs\n')
  expect(await place.ok('schedules', 'list')).toBe('no schedules\n')
  expect(await place.okJson('workers')).toEqual({ workers: [] })
  await place.ok('enqueue', 'mail')
  expect(await place.ok('queues')).toMatch(/^QUEUE .*\ndefault /)
  expect(await place.ok('jobs', '--state', 'waiting')).toMatch(/^ID .*\n\S+ +mail +default +waiting /)
  expect(await place.ok('jobs', '--state', 'failed')).toBe('no jobs\n')
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

test('a group alone that is not about the engine shows its settings, its tokens, a key, or what is missing', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  expect(await place.ok('config', '--http-port', '8123')).toMatch(/^SETTING .*\n(.|\n)*\nhttp\.port +8123 +--http-port\n/)
  expect(await place.run('config', 'sho')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("unknown command 'sho' (Did you mean show?)"),
  })
  expect(await place.run('token')).toMatchObject({ code: 3, stderr: expect.stringContaining('millrace token create') })
  await place.ok('token', 'create', 'ci')
  expect(await place.ok('token')).toMatch(/^ID .*\n.* ci /)
  await place.ok('enqueue', 'rebuild', '--unique', 'index')
  expect(await place.ok('webhooks')).toBe('no endpoints\n')
  expect(await place.ok('keys', 'rebuild', 'index')).toMatch(/^id +\S+\n/)
  const usage = (text: string) => ({ code: 2, stdout: '', stderr: `millrace: ${text} (USAGE)\n` })
  expect(await place.run('keys')).toMatchObject(usage("missing required argument 'name': millrace keys show <name> <key>"))
  expect(await place.run('worker')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^millrace: nothing to run: .*--handlers/) })
  expect(await place.run('worker', 'strat')).toMatchObject(usage("unknown command 'strat' (Did you mean start?)"))
  expect(await place.run('jobs', 'lst')).toMatchObject(usage("unknown command 'lst' (Did you mean list?)"))
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
