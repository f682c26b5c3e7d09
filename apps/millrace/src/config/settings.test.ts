/** Q6: settings that change at run time. For each key, what it does to a queue that works. */
import { defineJob, type Engine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { openInThread } from '../../../../packages/testkit/src/testing/inThread.ts'
import { settingOf } from '../cli/written.ts'
import { getSetting, listSettings, type QueueOption, SETTING_KEYS, setSetting as setValue } from './settings.ts'

const task = defineJob<unknown>({ name: 'task', queue: 'mail' })
const MAIL = { queue: 'mail' }
/** Whose settings nobody changes. */
const OTHER = { queue: 'other' }

/** Texts are read as `config set` reads them. */
async function setSetting(engine: Engine, key: string, value: unknown, queue: QueueOption): Promise<void> {
  await setValue(engine, key, typeof value === 'string' ? settingOf(key, value) : value, queue)
}

async function engineOf(): Promise<Engine> {
  const engine = openInThread()
  onTestFinished(() => engine.stop({ timeout: 0 }))
  await engine.queues.configure('other', { maxLength: 7, defaults: { priority: 3 } })
  return engine
}

/** How many run at once of ten that all wait for the end. */
async function runningAtOnce(engine: Engine, key?: string): Promise<number> {
  await engine.enqueueMany(
    Array.from({ length: 10 }, () => ({ job: task, data: null, ...(key !== undefined && { options: { concurrencyKey: key } }) })),
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  onTestFinished(() => resolve())
  engine.work([task.handler(() => promise)], { concurrency: 20 })
  // The jobs were there before their name was defined. Each answer ends a turn: they take what the definition says, are read, and start.
  for (let turn = 0; turn < 5; turn++) await engine.stats()
  const { states } = await engine.stats()
  return states.active
}

async function untilFinal(engine: Engine, id: string): Promise<void> {
  for await (const event of engine.events({ after: 0 }))
    if ('run' in event && event.jobId === id && ['completed', 'failed'].includes(event.type)) return
}

/** One failed attempt: when it comes again, from its end. */
async function delayAfterFailure(engine: Engine, attempts = 1): Promise<number> {
  const handle = await engine.enqueue(task, null)
  const worker = engine.work([
    task.handler(() => {
      throw new Error('not yet')
    }),
  ])
  let seen = 0
  for await (const event of engine.events({ after: 0 })) {
    if (event.type !== 'retrying' || event.jobId !== handle.id) continue
    seen++
    if (seen === attempts) break
    await engine.runNow(handle.id)
  }
  await worker.stop()
  const job = await engine.get(handle.id)
  const last = job?.attempts.at(-1)
  return (job?.runAt.getTime() ?? 0) - (last?.endedAt?.getTime() ?? 0)
}

const EFFECTS: Readonly<Record<string, (engine: Engine) => Promise<void>>> = {
  'concurrency-limit': async (engine) => {
    await setSetting(engine, 'concurrency-limit', '3', MAIL)
    expect(await runningAtOnce(engine)).toBe(3)
    await setSetting(engine, 'concurrency-limit', '5', MAIL)
    expect((await engine.stats()).states.active).toBe(5)
    await setSetting(engine, 'concurrency-limit', 'none', MAIL)
    expect((await engine.stats()).states.active).toBe(10)
  },
  'per-key-limit': async (engine) => {
    await setSetting(engine, 'per-key-limit', 2, MAIL)
    expect(await runningAtOnce(engine, 'k')).toBe(2)
  },
  'rate-limit': async (engine) => {
    await setSetting(engine, 'rate-limit', '4/1h', MAIL)
    expect(await runningAtOnce(engine)).toBe(4)
    await setSetting(engine, 'rate-limit', '4/1h:6', MAIL)
    expect(await getSetting(engine, 'rate-limit', MAIL)).toEqual({ limit: 4, period: 3_600_000, burst: 6 })
    await expect(setSetting(engine, 'rate-limit', 'fast', MAIL)).rejects.toMatchObject({ option: 'rateLimit.limit' })
  },
  'per-key-rate-limit': async (engine) => {
    await setSetting(engine, 'per-key-rate-limit', '3/1h', MAIL)
    expect(await runningAtOnce(engine, 'k')).toBe(3)
    await expect(setSetting(engine, 'per-key-rate-limit', 'fast', MAIL)).rejects.toMatchObject({ option: 'perKeyRateLimit.limit' })
  },
  'key-tiers': async (engine) => {
    await setSetting(engine, 'key-tiers', '{"k":{"perKeyLimit":2},"other":{"perKeyLimit":1}}', MAIL)
    expect(await runningAtOnce(engine, 'k:1')).toBe(2)
    expect(await getSetting(engine, 'key-tiers', MAIL)).toEqual({ k: { perKeyLimit: 2 }, other: { perKeyLimit: 1 } })
    await expect(setSetting(engine, 'key-tiers', 'gold', MAIL)).rejects.toThrow('key-tiers: It is not JSON')
    await expect(setSetting(engine, 'key-tiers', '{"k":{"perKeyLimit":0}}', MAIL)).rejects.toMatchObject({
      option: 'keyTiers.k.perKeyLimit',
    })
  },
  'key-order': async (engine) => {
    await setSetting(engine, 'key-order', 'strict', MAIL)
    expect(await runningAtOnce(engine, 'k')).toBe(1)
    await expect(setSetting(engine, 'key-order', 'odd', MAIL)).rejects.toMatchObject({ option: 'keyOrder' })
  },
  'shared-limit': async (engine) => {
    await setSetting(engine, 'shared-limit', 'smtp:1', MAIL)
    await setSetting(engine, 'shared-limit', 'smtp:1', { queue: 'second' })
    expect(await runningAtOnce(engine)).toBe(1)
    await expect(setSetting(engine, 'shared-limit', 'smtp', MAIL)).rejects.toMatchObject({ option: 'sharedLimit.limit' })
    await expect(setSetting(engine, 'shared-limit', 'smtp:0', MAIL)).rejects.toMatchObject({ option: 'sharedLimit.limit' })
    await expect(setSetting(engine, 'shared-limit', 'a b:1', MAIL)).rejects.toMatchObject({ option: 'sharedLimit.name' })
  },
  'max-length': async (engine) => {
    await setSetting(engine, 'max-length', 1, MAIL)
    await engine.enqueue(task, null)
    await expect(engine.enqueue(task, null)).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  },
  'on-full': async (engine) => {
    await expect(setSetting(engine, 'on-full', 'drop-oldest', MAIL)).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    await setSetting(engine, 'max-length', 1, MAIL)
    await setSetting(engine, 'on-full', 'drop-oldest', MAIL)
    const { id } = await engine.enqueue(task, null)
    await engine.enqueue(task, null)
    expect(await engine.get(id)).toMatchObject({ state: 'cancelled' })
    await expect(setSetting(engine, 'on-full', 'drop-newest', MAIL)).rejects.toMatchObject({ option: 'onFull' })
  },
  share: async (engine) => {
    await setSetting(engine, 'share', 3, MAIL)
    const two = defineJob({ name: 'task', queue: 'second' })
    await engine.enqueueMany(Array.from({ length: 4 }, () => ({ job: task, data: null })))
    await engine.enqueueMany(Array.from({ length: 4 }, () => ({ job: two })))
    const order: string[] = []
    const worker = engine.work([task.handler(({ job }) => void order.push(job.queue))], { concurrency: 1, queues: ['mail', 'second'] })
    while ((await engine.stats()).states.completed < 8) await engine.stats()
    await worker.stop()
    expect(longest(order, 'mail')).toBe(3)
  },
  fairness: async (engine) => {
    await setSetting(engine, 'fairness', 'name', MAIL)
    const rare = defineJob({ name: 'rare', queue: 'mail' })
    await engine.enqueueMany(Array.from({ length: 4 }, () => ({ job: task, data: null })))
    await engine.enqueueMany([{ job: rare }, { job: rare }])
    const order: string[] = []
    const note = ({ job }: { readonly job: { readonly name: string } }) => void order.push(job.name)
    const worker = engine.work([task.handler(note), rare.handler(note)], { concurrency: 1, queues: ['mail'] })
    while ((await engine.stats()).states.completed < 6) await engine.stats()
    await worker.stop()
    expect(order).toEqual(['task', 'rare', 'task', 'rare', 'task', 'task'])
    await expect(setSetting(engine, 'fairness', 'odd', MAIL)).rejects.toMatchObject({ option: 'fairness' })
  },
  'dead-letter': async (engine) => {
    await setSetting(engine, 'dead-letter', 'dead', MAIL)
    const { id } = await engine.enqueue(task, 'lost', { maxAttempts: 1 })
    const bystander = await engine.enqueue(task, null, { queue: 'other', maxAttempts: 1 })
    const failing = task.handler(() => {
      throw new Error('no')
    })
    const worker = engine.work([failing], { queues: ['mail', 'other'] })
    await Promise.all([untilFinal(engine, id), untilFinal(engine, bystander.id)])
    await worker.stop()
    expect((await engine.list({ queue: 'dead' })).jobs).toMatchObject([{ data: 'lost', meta: { deadLetter: { id, queue: 'mail' } } }])
    await expect(setSetting(engine, 'dead-letter', 'mail', MAIL)).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  },
  'alert-after': async (engine) => {
    await setSetting(engine, 'alert-after', '5m', MAIL)
    expect(await engine.queues.get('mail')).toMatchObject({ settings: { alertAfter: 300_000 } })
    await expect(setSetting(engine, 'alert-after', 0, MAIL)).rejects.toMatchObject({ code: 'OPTION_RANGE', option: 'alertAfter' })
    await setSetting(engine, 'alert-after', null, MAIL)
    expect((await engine.queues.get('mail'))?.settings).not.toHaveProperty('alertAfter')
  },
  empties: async (engine) => {
    await setSetting(engine, 'empties', 'event', MAIL)
    for (const options of [{ queue: 'other' }, undefined]) await engine.cancel((await engine.enqueue(task, null, options)).id)
    for await (const event of engine.events({ after: 0, filter: { types: ['queue.empty'] } })) {
      expect(event).toMatchObject({ type: 'queue.empty', queue: 'mail' })
      break
    }
    await expect(setSetting(engine, 'empties', 'odd', MAIL)).rejects.toMatchObject({ option: 'empties' })
  },
  repeats: async (engine) => {
    await setSetting(engine, 'repeats', 'event', MAIL)
    const twice = async (options?: { readonly queue: string }) => {
      for (let call = 0; call < 2; call++) await engine.enqueue(task, null, { ...options, idempotencyKey: options?.queue ?? 'mail' })
    }
    await twice({ queue: 'other' })
    await twice()
    for await (const event of engine.events({ after: 0, filter: { types: ['deduplicated'] } })) {
      expect(event).toMatchObject({ type: 'deduplicated', queue: 'mail', name: 'task', run: 0 })
      break
    }
    await expect(setSetting(engine, 'repeats', 'odd', MAIL)).rejects.toMatchObject({ option: 'repeats' })
  },
  ttl: async (engine) => {
    await setSetting(engine, 'ttl', 20, MAIL)
    const { id } = await engine.enqueue(task, null)
    const bystander = await engine.enqueue(task, null, { queue: 'other' })
    await untilFinal(engine, id)
    expect((await engine.get(id))?.attempts.at(-1)?.error?.name).toBe('JobExpiredError')
    expect(await engine.get(bystander.id)).toMatchObject({ state: 'waiting' })
  },
  priority: async (engine) => {
    await engine.enqueue(task, 'before', { priority: 4 })
    await setSetting(engine, 'priority', 5, MAIL)
    await engine.enqueue(task, 'after')
    const order: unknown[] = []
    const worker = engine.work([task.handler(({ data }) => void order.push(data))], { concurrency: 1 })
    while ((await engine.stats()).states.completed < 2) await engine.stats()
    await worker.stop()
    expect(order).toEqual(['after', 'before'])
  },
  weight: async (engine) => {
    await setSetting(engine, 'weight', 10, MAIL)
    expect(await runningAtOnce(engine)).toBe(2)
  },
  tokens: async (engine) => {
    await setSetting(engine, 'tokens', 3, MAIL)
    await setSetting(engine, 'rate-limit', '3/1h', MAIL)
    expect(await runningAtOnce(engine)).toBe(1)
  },
  'max-attempts': async (engine) => {
    await setSetting(engine, 'max-attempts', 1, MAIL)
    const { id } = await engine.enqueue(task, null)
    engine.work([
      task.handler(() => {
        throw new Error('once')
      }),
    ])
    await untilFinal(engine, id)
    expect(await engine.get(id)).toMatchObject({ state: 'failed', attempt: 1 })
  },
  'max-lost': async (engine) => {
    await setSetting(engine, 'max-lost', 2, MAIL)
    const { id } = await engine.enqueue(task, null)
    expect(await engine.get(id)).toMatchObject({ maxLost: 2, lostRuns: 0 })
    const { id: other } = await engine.enqueue('other', null, { queue: 'other' })
    expect(await engine.get(other)).toMatchObject({ maxLost: undefined })
  },
  keep: async (engine) => {
    await setSetting(engine, 'keep', 'forever', MAIL)
    expect(await getSetting(engine, 'keep', MAIL)).toBe('forever')
    const { id } = await engine.enqueue(task, null)
    await setSetting(engine, 'keep', 0, MAIL)
    const { id: gone } = await engine.enqueue(task, null)
    const { id: other } = await engine.enqueue('other', null, { queue: 'other' })
    await Promise.all([id, gone, other].map((each) => engine.cancel(each)))
    const found = await Promise.all([id, gone, other].map((each) => engine.get(each)))
    expect(found).toMatchObject([{ keep: 36_500 * 86_400_000 }, undefined, { keep: undefined }])
  },
  'log-lines': async (engine) => {
    await setSetting(engine, 'log-lines', 2, MAIL)
    const { id } = await engine.enqueue(task, null)
    const bystander = await engine.enqueue(task, null, { queue: 'other' })
    const logging = task.handler(({ log }) => {
      for (const message of ['a', 'b', 'c']) log('info', message)
    })
    const worker = engine.work([logging], { queues: ['mail', 'other'] })
    await Promise.all([untilFinal(engine, id), untilFinal(engine, bystander.id)])
    await worker.stop()
    const messagesOf = async (of: string) => (await engine.logs(of)).lines.map(({ number, message }) => `${number} ${message}`)
    expect(await messagesOf(id)).toEqual(['0 b', '1 c'])
    expect(await messagesOf(bystander.id)).toEqual(['0 a', '1 b', '2 c'])
  },
  'max-age': async (engine) => {
    await setSetting(engine, 'max-age', '5s', MAIL)
    const { id } = await engine.enqueue(task, null)
    engine.work([
      task.handler(() => {
        throw new Error('once')
      }),
    ])
    await untilFinal(engine, id)
    // The first retry would be in some 20 s.
    expect(await engine.get(id)).toMatchObject({ state: 'failed', attempt: 1, maxAttempts: 4, maxAge: 5_000 })
  },
  'backoff.type': async (engine) => {
    for (const [key, value] of [
      ['backoff.delay', '10s'],
      ['backoff.jitter', 'none'],
      ['backoff.type', 'linear'],
    ] as const)
      await setSetting(engine, key, value, MAIL)
    await setSetting(engine, 'backoff.jitter', 0, MAIL)
    expect(await delayAfterFailure(engine, 3)).toBe(30_000)
    await setSetting(engine, 'backoff.type', 'fixed', MAIL)
    expect(await delayAfterFailure(engine, 3)).toBe(10_000)
  },
  'backoff.delay': async (engine) => {
    await setSetting(engine, 'backoff.jitter', 0, MAIL)
    await setSetting(engine, 'backoff.delay', '7m', MAIL)
    expect(await delayAfterFailure(engine)).toBe(420_000)
  },
  'backoff.factor': async (engine) => {
    await setSetting(engine, 'backoff.jitter', 0, MAIL)
    await setSetting(engine, 'backoff.factor', 3, MAIL)
    expect(await delayAfterFailure(engine, 3)).toBe(180_000)
  },
  'backoff.max-delay': async (engine) => {
    await setSetting(engine, 'backoff.max-delay', '5s', MAIL)
    const delay = await delayAfterFailure(engine)
    // With the jitter of 0.2 within it.
    expect(delay).toBeGreaterThan(3_300)
    expect(delay).toBeLessThanOrEqual(5_000)
  },
  'backoff.jitter': async (engine) => {
    await setSetting(engine, 'backoff.delay', '1h', MAIL)
    await setSetting(engine, 'backoff.max-delay', '10h', MAIL)
    await setSetting(engine, 'backoff.jitter', 0, MAIL)
    expect(await delayAfterFailure(engine)).toBe(3_600_000)
    await setSetting(engine, 'backoff.jitter', 'full', MAIL)
    expect(await delayAfterFailure(engine)).not.toBe(3_600_000)
  },
  timeout: async (engine) => {
    await setSetting(engine, 'timeout', 20, MAIL)
    const { id } = await engine.enqueue(task, null, { maxAttempts: 1 })
    engine.work([
      task.handler(({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
    ])
    await untilFinal(engine, id)
    expect((await engine.get(id))?.attempts.at(-1)?.error?.name).toBe('JobTimeoutError')
  },
  'heartbeat-timeout': async (engine) => {
    // Without it, the heartbeat would give the run two minutes more.
    await setSetting(engine, 'timeout', 100, MAIL)
    await setSetting(engine, 'heartbeat-timeout', 0, MAIL)
    const { id } = await engine.enqueue(task, null, { maxAttempts: 1 })
    engine.work([
      task.handler(({ heartbeat, signal }) => {
        heartbeat()
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    ])
    await untilFinal(engine, id)
    expect((await engine.get(id))?.attempts.at(-1)?.error?.name).toBe('JobTimeoutError')
  },
  'retention.completed': (engine) => forgets(engine, 'completed'),
  'retention.failed': (engine) => forgets(engine, 'failed'),
  'retention.cancelled': (engine) => forgets(engine, 'cancelled'),
  paused: async (engine) => {
    await setSetting(engine, 'paused', true, MAIL)
    expect(await runningAtOnce(engine)).toBe(0)
    await setSetting(engine, 'paused', 'false', MAIL)
    expect((await engine.stats()).states.active).toBe(10)
  },
}

test('retention is kept for ever where that is said, and told by the same word', async () => {
  const engine = openInThread()
  onTestFinished(() => engine.stop({ timeout: 0 }))
  await setSetting(engine, 'retention.failed', 'forever', MAIL)
  await setSetting(engine, 'retention.completed', '1d', MAIL)
  expect(await getSetting(engine, 'retention.failed', MAIL)).toBe('forever')
  expect((await engine.queues.get('mail'))?.settings.retention).toEqual({
    failed: { ageMs: 36_500 * 86_400_000, count: 1_000_000_000_000 },
    completed: { ageMs: 86_400_000, count: 1_000_000 },
  })
})

/** Longest run of one value. */
function longest(values: readonly string[], of: string): number {
  let [most, now] = [0, 0]
  for (const value of values) {
    now = value === of ? now + 1 : 0
    most = Math.max(most, now)
  }
  return most
}

async function forgets(engine: Engine, state: 'completed' | 'failed' | 'cancelled'): Promise<void> {
  await setSetting(engine, `retention.${state}`, 0, MAIL)
  const handle = await engine.enqueue(task, null, { maxAttempts: 1 })
  const kept = await engine.enqueue(task, null, { maxAttempts: 1, queue: 'kept' })
  if (state === 'cancelled') await Promise.all([engine.cancel(handle.id), engine.cancel(kept.id)])
  else {
    engine.work([
      task.handler(() => {
        if (state === 'failed') throw new Error('for good')
      }),
    ])
    await untilFinal(engine, kept.id)
    await untilFinal(engine, handle.id)
  }
  while ((await engine.get(handle.id)) !== undefined) await engine.stats()
  expect((await engine.get(kept.id))?.state).toBe(state)
}

test('there is an effect for every key', () => {
  expect(Object.keys(EFFECTS).toSorted()).toEqual(SETTING_KEYS.toSorted())
})

test.each(Object.keys(EFFECTS))('Q6: %s', async (key) => {
  const engine = await engineOf()
  await EFFECTS[key]?.(engine)
  expect(await getSetting(engine, 'max-length', OTHER)).toBe(7)
  expect(await getSetting(engine, 'priority', OTHER)).toBe(3)
})

test('a setting that is changed leaves the others, and none takes it away', async () => {
  const engine = await engineOf()
  await setSetting(engine, 'max-attempts', 9, MAIL)
  await setSetting(engine, 'timeout', 'Infinity', MAIL)
  await setSetting(engine, 'retention.failed', '3d', MAIL)
  await setSetting(engine, 'retention.completed', '1d', MAIL)
  await setSetting(engine, 'backoff.type', 'fixed', MAIL)
  await setSetting(engine, 'backoff.delay', '2s', MAIL)
  await setSetting(engine, 'max-attempts', 'none', MAIL)
  const said = (await listSettings(engine, MAIL)).filter(({ value }) => value !== undefined)
  expect(Object.fromEntries(said.map(({ key, value }) => [key, value]))).toEqual({
    timeout: Number.POSITIVE_INFINITY,
    'retention.completed': 86_400_000,
    'retention.failed': 3 * 86_400_000,
    'backoff.type': 'fixed',
    'backoff.delay': 2_000,
    'backoff.max-delay': 3_600_000,
    'backoff.jitter': 0.2,
    paused: false,
  })
})

test.each([
  ['max-lenght', '1', "unknown setting 'max-lenght': did you mean 'max-length'?"],
  ['max-length', '0', 'maxLength must be between 1 and'],
  ['max-length', 'many', 'maxLength must be a whole number'],
  ['backoff.jitter', '2', 'backoff.jitter must be a fraction'],
  ['timeout', 'soon', 'timeout must be a duration'],
  ['paused', 'perhaps', 'paused must be true or false'],
])('%s %s is refused, and nothing is changed', async (key, value, message) => {
  const engine = await engineOf()
  await expect(setSetting(engine, key, value, OTHER)).rejects.toThrow(message)
  expect((await listSettings(engine, OTHER)).filter(({ value }) => value !== undefined).map(({ key }) => key)).toEqual([
    'max-length',
    'priority',
    'paused',
  ])
})
