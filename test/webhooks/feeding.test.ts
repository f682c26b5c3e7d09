/** A feed in all kinds of trouble: stores that fail before or after they have written, feeds that stop and start, engines that crash. */
import { createTestEngine } from '@millrace/testkit'
import { type EndpointChange, type EventWebhook, EventWebhooks, MemoryEndpointStore } from '@millrace/webhooks'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../packages/testkit/src/testing/runs.ts'

class UnluckyStore extends MemoryEndpointStore {
  /** What becomes of the updates to come. */
  readonly plan: ('lost' | 'unanswered')[] = []

  override async update(changes: readonly EndpointChange[]): Promise<void> {
    const fate = this.plan.shift()
    if (fate === 'lost') throw new Error('nothing was written')
    await super.update(changes)
    if (fate === 'unanswered') throw new Error('it was written, and nobody was told')
  }
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('jobs' as const), count: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('lost' as const, 'unanswered' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('stop' as const, 'start' as const, 'refresh' as const, 'crash' as const, 'time' as const),
    }),
  },
)

test('one delivery for each event that fits, for each endpoint, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      await using t = createTestEngine()
      const { engine, clock } = t
      const store = new UnluckyStore()
      await using feed = new EventWebhooks(engine, { endpoints: store, clock })
      await engine.enqueue('a')
      await feed.add({ id: 'all', url: 'https://example.com/', events: ['enqueued'] })
      await feed.add({ id: 'some', url: 'https://example.com/', events: ['enqueued'], names: ['b'] })
      feed.start()
      const wanted = { all: [] as string[], some: [] as string[] }
      for (const one of steps) {
        switch (one.kind) {
          case 'jobs': {
            const handles = await engine.enqueueMany(
              Array.from({ length: one.count }, (_, index) => ({ job: index % 3 === 0 ? 'b' : 'a' })),
            )
            for (const [index, { id }] of handles.entries()) {
              wanted.all.push(id)
              if (index % 3 === 0) wanted.some.push(id)
            }
            break
          }
          case 'lost':
          case 'unanswered':
            store.plan.push(one.kind)
            break
          case 'stop':
            await feed.stop()
            break
          case 'start':
            feed.start()
            break
          case 'refresh':
            feed.refresh()
            break
          case 'crash':
            await t.restart()
            break
          case 'time':
            await clock.advance('1m')
        }
      }
      store.plan.length = 0
      await feed.stop()
      feed.start()
      const told = { all: [] as string[], some: [] as string[] }
      const total = wanted.all.length + wanted.some.length
      // Whatever it waits for is timers of this clock.
      for (let minute = 0; minute < 20 && (await engine.stats()).queues['webhooks']?.waiting !== total; minute++) await clock.advance('1m')
      let after: string | undefined
      do {
        const page = await engine.list({ queue: 'webhooks', limit: 200, ...(after !== undefined && { after }) })
        for (const { tags, data } of page.jobs)
          told[tags[0]?.slice('endpoint:'.length) as keyof typeof told].push(String((data as { body: EventWebhook }).body.data['jobId']))
        after = page.next
      } while (after !== undefined)
      expect(told.all.toSorted()).toEqual(wanted.all.toSorted())
      expect(told.some.toSorted()).toEqual(wanted.some.toSorted())
    }),
    { numRuns: runs(40) },
  )
})
