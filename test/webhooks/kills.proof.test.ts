/** Processes killed in the middle of deliveries, and between the jobs of a feed and its cursor. */
import { join } from 'node:path'
import { type Engine, type Job, openEngine } from '@millrace/engine'
import { seededRandom } from '@millrace/testkit/internal'
import { type EventWebhook, webhookJob } from '@millrace/webhooks'
import { expect, test } from 'vitest'
import { type Receiver, receiver } from '../../packages/webhooks/src/testing/receiver.ts'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

async function jobsOf(engine: Engine, queue: string): Promise<readonly Job[]> {
  const jobs: Job[] = []
  let after: string | undefined
  do {
    const page = await engine.list({ queue, limit: 200, ...(after !== undefined && { after }) })
    jobs.push(...page.jobs)
    after = page.next
  } while (after !== undefined)
  return jobs
}

async function end(program: Program): Promise<void> {
  program.child.stdin.end()
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
}

test('M3: kill -9 in the middle of deliveries: each webhook is delivered, and what was under way comes again', async () => {
  const JOBS = 60
  const file = join(temporaryFolder(), 'jobs.db')
  let held = 0
  // Every fifth is not answered while there are to be kills.
  let holding = true
  const server = await receiver((_received, response, count) => void (holding && count % 5 === 0 ? held++ : response.end()))
  const engine = await openEngine({ file })
  const bystander = await engine.enqueue('bystander', 'untouched', { delay: '1h' })
  await engine.enqueueMany(
    Array.from({ length: JOBS }, (_, number) => ({
      job: webhookJob,
      data: { url: server.url, body: number },
      options: { queue: 'webhooks', backoff: { type: 'fixed' as const, delay: 0 } },
    })),
  )
  const before = await engine.get(bystander.id)
  await engine.stop()

  const deliverer = () => startProgram(new URL('./programs/deliverer.ts', import.meta.url), [file])
  for (let kills = 1; kills <= 3; kills++) {
    const program = deliverer()
    await server.until(kills * 10)
    await program.kill()
  }
  holding = false
  const last = deliverer()
  await until(server, () => new Set(bodiesOf(server)).size === JOBS)
  await end(last)

  expect(held).toBeGreaterThan(0)
  await using again = await openEngine({ file })
  const jobs = await jobsOf(again, 'webhooks')
  expect(jobs.map(({ state }) => state)).toEqual(Array.from({ length: JOBS }, () => 'completed'))
  expect(await again.get(bystander.id)).toEqual(before)
})

const bodiesOf = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body.toString()) as unknown)
const toldIds = (server: Receiver) => new Set((bodiesOf(server) as EventWebhook[]).map(({ data }) => String(data['jobId'])))

async function until(server: Receiver, holds: () => boolean): Promise<void> {
  while (!holds()) await server.until(server.received.length + 1)
}

async function fed(seed: number, rounds: number, step?: 'saving' | 'saved'): Promise<void> {
  const JOBS = 20
  const random = seededRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const folder = temporaryFolder()
  const server = await receiver()
  const feeder = (...args: readonly string[]) =>
    startProgram(new URL('./programs/feeder.ts', import.meta.url), [folder, server.url, ...args])
  const told: string[] = []
  for (let round = 0; round < rounds; round++) {
    const chosen = step === undefined ? [] : [step, String(1 + below(4))]
    const program = feeder(String(JOBS), ...chosen)
    if (step === undefined) await Promise.race([program.saidLines(2 + below(JOBS)), program.ended])
    else expect(await program.ended).toMatchObject({ signal: 'SIGKILL' })
    await program.kill()
    told.push(...program.lines.slice(1))
  }
  const last = feeder('1')
  await last.saidLines(2)
  const [, mark = ''] = last.lines
  // Told in order: whoever has heard of the last has been told of all.
  await until(server, () => toldIds(server).has(mark))
  await end(last)

  await using engine = await openEngine({ file: join(folder, 'jobs.db') })
  const ids = (await jobsOf(engine, 'default')).map(({ id }) => id).toSorted()
  const deliveries = await jobsOf(engine, 'webhooks')
  expect(told.length).toBeGreaterThan(0)
  expect(told.filter((id) => !ids.includes(id))).toEqual([])
  // One delivery for each job, whichever process has made it; and each was received.
  expect(deliveries.map(({ data }) => (data as { body: EventWebhook }).body.data['jobId']).toSorted()).toEqual(ids)
  expect(deliveries.filter(({ state }) => state !== 'completed')).toEqual([])
  expect([...toldIds(server)].toSorted()).toEqual(ids)
}

test.each([1, 2])('a feed killed at any moment: one delivery for each event (%i)', (seed) => fed(seed, 4), 120_000)

test.each(['saving', 'saved'] as const)('a feed killed at the step "%s"', (step) => fed(7, 4, step), 120_000)
