/** Tests an upsert of a schedule that also changes the waiting job of an earlier tick. */

import { describe, expect, test } from 'vitest'
import type { NewJob } from '../../commands.ts'
import type { UpsertScheduleCommand } from '../../scheduleCommands.ts'
import { attaching, World } from '../../testing/world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

type Changes = Partial<NewJob> &
  Partial<Pick<UpsertScheduleCommand, 'id' | 'updateWaiting' | 'paused'>> & {
    readonly overlap?: UpsertScheduleCommand['spec']['overlap']
  }

function upserting({ id = 's', updateWaiting = true, paused, overlap = 'skip', ...job }: Changes = {}): UpsertScheduleCommand {
  return {
    op: 'upsertSchedule',
    id,
    spec: { every: MINUTE, jitter: 0, overlap, catchUp: 'latest' },
    job: { name: 'a', data: '{"n":1}', ...job },
    runImmediately: false,
    ...(paused !== undefined && { paused }),
    updateWaiting,
  }
}

class Scheduled extends World {
  upsert(changes?: Changes) {
    return this.call<'upsertSchedule'>(upserting(changes))
  }
}

/** Its first tick has fired, and nobody serves the job. */
function ticked(changes?: Changes): Scheduled {
  const world = new Scheduled()
  world.upsert(changes)
  world.after(MINUTE)
  return world
}

describe('the option updateWaiting of an upsert', () => {
  test('the job that waits takes data, priority, weight, tags and meta, and keeps its time and its tick', () => {
    const world = ticked({ tags: ['old'], meta: '{"by":"old"}' })
    const before = world.row({ seq: 1 })
    const { schedule } = JSON.parse(before.extras?.meta as string)
    world.pass(1_000)
    const wanted = { data: '{"n":2}', priority: 7, weight: 3, tags: ['new'], meta: '{"by":"new"}' }
    const { events, replies } = world.run(upserting(wanted))
    expect(replies[0]).toMatchObject({ created: false, waitingUpdated: 1 })
    expect(events).toMatchObject([{ type: 'updated', seq: 1, run: 0 }])
    const { seq, runAt, enqueuedAt, policy } = before
    expect(world.row({ seq: 1 })).toMatchObject({
      ...{ seq, runAt, enqueuedAt, policy, state: before.state, data: '{"n":2}', priority: 7, weight: 3 },
      extras: { tags: ['new', 'schedule:s'], schedule: 's' },
    })
    expect(JSON.parse(world.row({ seq: 1 }).extras?.meta as string)).toEqual({ by: 'new', schedule })
    expect(world.run(attaching('w', ['a'])).grants).toMatchObject([{ seq: 1, data: '{"n":2}' }])
  })

  test('without updateWaiting the waiting job keeps the options that it was created with, and the reply does not mention it', () => {
    const world = ticked()
    const before = JSON.stringify(world.row({ seq: 1 }))
    expect(world.upsert({ data: '{"n":2}', updateWaiting: false })).not.toHaveProperty('waitingUpdated')
    expect(JSON.stringify(world.row({ seq: 1 }))).toBe(before)
    // A later upsert that is like the one before makes up for it.
    expect(world.upsert({ data: '{"n":2}' })).toMatchObject({ waitingUpdated: 1 })
    expect(world.row({ seq: 1 }).data).toBe('{"n":2}')
  })

  test('a waiting job that already has the new options is not written', () => {
    const world = ticked({ data: new Uint8Array([1, 2]), tags: ['t'], priority: 2 })
    const { writes } = world.store
    expect(world.upsert({ data: new Uint8Array([1, 2]), tags: ['t'], priority: 2 })).toMatchObject({ waitingUpdated: 0 })
    expect(world.store.writes).toBe(writes)
  })

  test('a change of tags and meta alone leaves the waiting job in its place in line', () => {
    const world = ticked()
    const { events, replies } = world.run(upserting({ tags: ['t'] }))
    expect([events, replies]).toMatchObject([[], [{ waitingUpdated: 1 }]])
    expect(world.row({ seq: 1 }).extras?.tags).toEqual(['t', 'schedule:s'])
  })

  test('a job that was delayed by hand keeps its time', () => {
    const world = ticked()
    world.update({ seq: 1 }, { runAt: world.now.wall + HOUR })
    world.upsert({ data: '{"n":2}' })
    expect(world.row({ seq: 1 })).toMatchObject({ runAt: world.now.wall + HOUR, data: '{"n":2}' })
    expect(world.stateOf({ seq: 1 })).toBe('scheduled')
    world.reload()
    world.attach('w', ['a'])
    expect(world.after(HOUR).grants).toMatchObject([{ seq: 1, data: '{"n":2}' }])
  })

  test('a job that waits for its key stays behind the other jobs of the key', () => {
    const world = new Scheduled()
    world.configure('default', { perKeyLimit: 1 })
    world.attach('w', ['a'])
    const first = world.enqueue('a', { concurrencyKey: 'k' })
    world.upsert({ concurrencyKey: 'k' })
    world.after(MINUTE)
    expect(world.upsert({ concurrencyKey: 'k', data: '{"n":2}' })).toMatchObject({ waitingUpdated: 1 })
    expect(world.stateOf({ seq: 2 })).toBe('waiting')
    expect(world.complete(first).grants).toMatchObject([{ seq: 2, data: '{"n":2}' }])
  })

  test('a job that has run is not changed: it runs, waits for a retry, or was given back', () => {
    const world = new Scheduled()
    world.attach('w', ['a'])
    const retried = { maxAttempts: 3, backoff: { type: 'fixed', delay: HOUR } } as const
    world.upsert(retried)
    world.after(MINUTE)
    const left = () => {
      const before = JSON.stringify(world.row({ seq: 1 }))
      expect(world.upsert({ ...retried, data: '{"n":2}', priority: 9 })).toMatchObject({ waitingUpdated: 0 })
      expect(JSON.stringify(world.row({ seq: 1 }))).toBe(before)
      world.upsert(retried)
    }
    left()
    world.fail({ seq: 1 })
    left()
    const again = world.after(HOUR).grants[0]
    world.pass(1_000)
    expect(again).toMatchObject({ seq: 1, run: 2, data: '{"n":1}' })
    world.giveBack({ seq: 1 })
    left()
  })

  test('a job that has ended or was deleted is not changed, nor is the job if the schedule names another job name', () => {
    const world = ticked()
    const { node, enqueuedAt } = world.row({ seq: 1 })
    const before = JSON.stringify(world.row({ seq: 1 }))
    expect(world.upsert({ name: 'b', data: '{"n":2}' })).toMatchObject({ waitingUpdated: 0 })
    expect(JSON.stringify(world.row({ seq: 1 }))).toBe(before)
    const id = { seq: 1, node, enqueuedAt }
    // In the same turn.
    expect(world.run({ op: 'delete', id }, upserting({ data: '{"n":3}' })).replies[1]).toMatchObject({ waitingUpdated: 0 })
    expect(world.store.rows.size).toBe(0)
    world.after(MINUTE)
    const [last] = world.store.rows.values()
    const ended = { seq: last?.seq as number, node, enqueuedAt: last?.enqueuedAt as number }
    world.cancel(ended)
    expect(world.upsert({ data: '{"n":4}' })).toMatchObject({ waitingUpdated: 0 })
    expect(world.row(ended).data).toBe('{"n":3}')
  })

  test('a job of the same turn takes the new options too, and a new schedule has no waiting job', () => {
    const world = new Scheduled()
    expect(world.upsert()).toMatchObject({ created: true, waitingUpdated: 0 })
    const { replies } = world.run({ op: 'triggerSchedule', id: 's' }, upserting({ data: '{"n":2}' }), upserting({ data: '{"n":3}' }))
    expect(replies.slice(1)).toMatchObject([{ waitingUpdated: 1 }, { waitingUpdated: 1 }])
    expect(world.row({ seq: 1 }).data).toBe('{"n":3}')
    world.reload()
    expect(world.run(attaching('w', ['a'])).grants).toMatchObject([{ seq: 1, data: '{"n":3}' }])
  })

  test('a schedule with overlap allow changes its last job alone, and no job of another schedule', () => {
    const world = ticked({ overlap: 'allow' })
    world.after(MINUTE)
    world.upsert({ id: 'by', overlap: 'allow' })
    world.run({ op: 'triggerSchedule', id: 'by' })
    const other = world.enqueue('a')
    const before = [{ seq: 1 }, { seq: 3 }, other].map((key) => JSON.stringify(world.row(key)))
    world.upsert({ overlap: 'allow', data: '{"n":2}', priority: 5 })
    expect(world.row({ seq: 2 })).toMatchObject({ data: '{"n":2}', priority: 5 })
    expect([{ seq: 1 }, { seq: 3 }, other].map((key) => JSON.stringify(world.row(key)))).toEqual(before)
  })

  test('an option that the schedule no longer states comes from the definition, whether that comes before or after', () => {
    const serving = attaching('w', [], { handlers: [{ name: 'a', defaults: { priority: 4, weight: 2 } }] })
    for (const isFirst of [true, false]) {
      const world = new Scheduled()
      if (isFirst) world.run(serving)
      world.pause('default')
      world.upsert({ priority: 9 })
      world.after(MINUTE)
      expect(world.row({ seq: 1 }).priority).toBe(9)
      world.upsert({ weight: 3 })
      if (!isFirst) world.run(serving)
      expect(world.row({ seq: 1 })).toMatchObject({ priority: 4, weight: 3 })
    }
  })

  test('an upsert that is refused leaves the job as it is', () => {
    const world = ticked()
    const before = JSON.stringify(world.row({ seq: 1 }))
    expect(world.run({ ...upserting({ data: '{"n":2}' }), updatedAt: 5 }).replies[0]).toMatchObject({
      refusal: { code: 'SCHEDULE_CHANGED' },
    })
    world.refusing = { code: 'DISK_FULL', message: 'full' }
    expect(world.run(upserting({ data: '{"n":2}' })).replies[0]).toMatchObject({ refusal: { code: 'DISK_FULL' } })
    expect(JSON.stringify(world.row({ seq: 1 }))).toBe(before)
  })
})
