/** Middleware of engines in other places: around handlers of the thread pool, through a codec, and on the far side of a socket. */
import { defineJob, type Engine, type Middleware, openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { aesGcm } from '../../apps/examples/privacy/aesGcm.ts'
import { temporaryFile } from '../temporary.ts'

const answer = defineJob<{ do: string; value?: number }>({ name: 'answer', maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } })
const onThreads = () => answer.thread(new URL('./handlers/answer.ts', import.meta.url), { threads: 1 })
const codec = aesGcm({ current: 'a', keys: { a: Buffer.alloc(32, 'a') } })

async function opened(): Promise<Engine> {
  const engine = await openEngine({ file: temporaryFile(), durability: 'normal', codec })
  onTestFinished(() => engine.stop())
  return engine
}

/** Notes each run with its data, and how its handler ended. */
function noting(seen: unknown[]): Middleware {
  return {
    run: async ({ data, job }, next) => {
      const how = await next().then(
        (output) => output,
        (error: Error) => {
          seen.push([job.attempt, data, error.name])
          throw error
        },
      )
      seen.push([job.attempt, data, how])
    },
  }
}

test('around a handler of the thread pool: it sees data, output and errors, and what the thread says of the run stays', async () => {
  const engine = await opened()
  const seen: unknown[] = []
  engine.use(noting(seen))
  engine.work([onThreads()])
  const run = async (data: { do: string; value?: number }) => (await engine.enqueue(answer, data)).result()
  expect(await run({ do: 'square', value: 12 })).toBe(144)
  expect(await run({ do: 'tell' })).toEqual({ seen: 1 })
  // With its completion, it has enqueued a job.
  expect((await engine.list({ name: 'child' })).jobs).toHaveLength(1)
  await expect(run({ do: 'discard' })).rejects.toMatchObject({ code: 'JOB_FAILED', message: expect.stringContaining('unwanted') })
  expect(seen).toEqual([
    [1, { do: 'square', value: 12 }, 144],
    [1, { do: 'tell' }, 'TypeError'],
    [2, { do: 'tell' }, { seen: 1 }],
    [1, { do: 'discard' }, 'DiscardedError'],
  ])
})

test('of a client behind a socket: around what it enqueues and runs, and not around what others do', async () => {
  const engine = await opened()
  const server = await listen(engine, 'tcp://127.0.0.1:0')
  const client = await connect(server.url, { codec })
  onTestFinished(() => client.stop())
  const seen: unknown[] = []
  client.use({ ...noting(seen), enqueue: (jobs, next) => next(jobs.map((job) => ({ ...job, options: { tags: ['client'] } }))) })
  const worker = client.work([answer.handler(({ data }) => data.value)])
  await worker.ready
  const [own, other] = [await client.enqueue(answer, { do: 'x', value: 1 }), await engine.enqueue(answer, { do: 'y', value: 2 })]
  expect([await own.result(), await other.result()]).toEqual([1, 2])
  expect(seen).toEqual([
    [1, { do: 'x', value: 1 }, 1],
    [1, { do: 'y', value: 2 }, 2],
  ])
  expect((await engine.get(own.id))?.tags).toEqual(['client'])
  expect((await engine.get(other.id))?.tags).toEqual([])
})
