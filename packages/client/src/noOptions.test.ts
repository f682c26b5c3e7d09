/** Calls without options refuse those that JavaScript passes: a pause for a second must not become one without an end. */
import { formatId, OptionTypeError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../worker/src/testing/manualClock.ts'
import { Changes } from './changes.ts'
import { Exports } from './following.ts'
import { Mailbox } from './mailbox.ts'
import { Queues } from './queues.ts'
import { Schedules } from './schedules.ts'
import { FakePort, quiet } from './testing/fakePort.ts'

type Call = (...given: unknown[]) => Promise<unknown>

function calls() {
  const port = new FakePort()
  const mailbox = new Mailbox(port)
  const queues = new Queues(mailbox, new ManualClock())
  const schedules = new Schedules(mailbox, { maxDataBytes: 1_000 }, () => {
    throw new Error('no job is created here')
  })
  const changes = new (class extends Changes {
    override enqueue(): never {
      throw new Error('no job is created here')
    }
  })({ mailbox, codec: undefined, port })
  const exports = new Exports(mailbox, () => {}, new ManualClock(), undefined)
  const id = formatId({ seq: 1, node: 1, enqueuedAt: 1 })
  const table: Readonly<Record<string, Call>> = {
    'queues.pauseAll': queues.pauseAll.bind(queues),
    'queues.resumeAll': queues.resumeAll.bind(queues),
    'queues.delete': (queues.delete as Call).bind(queues, 'q'),
    'schedules.pause': (schedules.pause as Call).bind(schedules, 's'),
    'schedules.resume': (schedules.resume as Call).bind(schedules, 's'),
    'schedules.delete': (schedules.delete as Call).bind(schedules, 's'),
    'engine.runNow': (changes.runNow as Call).bind(changes, id),
    'engine.enqueueAgain': (changes.enqueueAgain as Call).bind(changes, id),
    'engine.delete': (changes.delete as Call).bind(changes, id),
    'engine.releaseKey': (changes.releaseKey as Call).bind(changes, { name: 'a', uniqueKey: 'k' }),
    'exports.delete': (exports.delete as Call).bind(exports, 'e'),
  }
  return { port, table }
}

describe.each([
  ['queues.pauseAll', 'queues.pause(name, { for }) pauses one queue for a time'],
  ['queues.resumeAll', 'queues.resume(name, { job, key }) resumes one queue, or a part of it'],
  ['queues.delete', 'queues.purge(name, { dryRun: true }) counts the jobs of a queue'],
  ['schedules.pause', 'schedules.update(id, { startAt }) fires no tick before a time'],
  ['schedules.resume', 'schedules.update(id, { startAt }) fires no tick before a time'],
  ['schedules.delete', 'schedules.get(id) shows the schedule'],
  ['engine.runNow', 'engine.update(job, { runAt }) sets a time'],
  ['engine.enqueueAgain', 'engine.enqueue(name, data, options) creates a job with others'],
  ['engine.delete', 'engine.deleteMany(filter, { dryRun: true }) counts the jobs that it would delete'],
  ['engine.releaseKey', 'engine.get(job) shows the job that holds the key'],
  ['exports.delete', 'exports.list() shows all exports'],
])('%s', (name, instead) => {
  const { port, table } = calls()
  const call = table[name] as Call

  test('refuses options, and names the call that has them', async () => {
    const refused = call({ for: '1s' })
    await expect(refused).rejects.toThrow(OptionTypeError)
    await expect(refused).rejects.toMatchObject({ option: 'for', message: `${name} has no option 'for': it takes no options; ${instead}` })
    await expect(call('1s')).rejects.toThrow(`${name} takes no options, got "1s": ${instead}`)
    await expect(call(undefined, null)).rejects.toThrow(`${name} takes no options, got null: ${instead}`)
    expect(port.posts).toEqual([])
  })

  test('takes undefined and an empty object, which ask for nothing', async () => {
    for (const given of [undefined, {}]) void call(given)
    await quiet()
    expect(port.posts.flat()).toHaveLength(2)
  })
})
