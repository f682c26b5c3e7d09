/** Deliveries of an endpoint, as jobs of a real engine. */
import { type Engine, openEngine } from '@millrace/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { webhookJob } from '../job.ts'
import { cancelDeliveries, tagOf } from './deliveries.ts'

const QUEUE = 'webhooks'

let engine: Engine
beforeEach(async () => {
  engine = await openEngine({ file: ':memory:' })
})
afterEach(() => engine.stop({ timeout: 0 }))

const deliver = (endpointId: string) =>
  engine.enqueue(webhookJob, { url: 'https://example.com/' }, { queue: QUEUE, tags: [tagOf(endpointId)] })
const told = (type: 'started' | 'retrying' | 'cancelled') => new Promise<void>((resolve) => void engine.once(type, () => resolve()))

test('a delivery whose attempt fails in the middle of it is cancelled too, and no other', async () => {
  const answer = Promise.withResolvers<void>()
  engine.work([webhookJob.returns<void>().handler(() => answer.promise)], { queues: [QUEUE], concurrency: 1 })
  const started = told('started')
  const { id } = await deliver('e1')
  await started
  const bystander = await deliver('e2')
  // The attempt fails just before it would be looked for among those that run.
  const watched = {
    async cancelMany(filter: Parameters<Engine['cancelMany']>[0]) {
      if (filter.state === 'active') {
        const retrying = told('retrying')
        answer.reject(new Error('503'))
        await retrying
      }
      return engine.cancelMany(filter)
    },
  } as Engine
  const ended = Promise.race([told('cancelled'), told('retrying')])
  await cancelDeliveries(watched, QUEUE, 'e1')
  answer.reject(new Error('503'))
  await ended
  expect((await engine.get(id))?.state).toBe('cancelled')
  expect((await engine.get(bystander.id))?.state).not.toBe('cancelled')
})
