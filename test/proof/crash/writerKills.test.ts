// The writer thread killed again and again under load, in a process that lives on: exactly-once where the process does not die.
import { Engine } from '@millrace/client'
import { type Clock, DEFAULT_RETENTION, LIMITS } from '@millrace/core'
import { CommitUnknownError, defineJob } from '@millrace/engine'
import { fileStore, systemClock, WriterThread } from '@millrace/engine/internal'
import { seededRandom } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { auditFile } from '../../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile } from '../../temporary.ts'
import { watchWriters } from './writers.ts'

const KILLS = Number(process.env['KILLS'] ?? 15)
const PRODUCERS = 20

/** The real clock; but between two deaths of the thread a minute has always passed, so that the engine does not give up. */
function patientClock() {
  let skippedMs = 0
  const clock: Clock = {
    read: () => ({ wall: Date.now(), mono: performance.now() + skippedMs }),
    setTimer: systemClock.setTimer,
  }
  return { clock, passTime: (ms: number) => (skippedMs += ms) }
}

test(`1, 2, 7, 11: ${KILLS} deaths of the writer under load: every job runs once, uses one attempt, and is there`, async () => {
  const file = temporaryFile()
  const writers = watchWriters()
  const { clock, passTime } = patientClock()
  const random = seededRandom(Number(process.env['SEED'] ?? 1))
  const store = fileStore({ file, durability: 'full', waitForOwnerMs: 0, cacheKib: 4_096, secureDelete: false, unsafeFilesystem: 'refuse' })
  const thread = new WriterThread({ store, settings: { recovery: 'immediate', retention: DEFAULT_RETENTION }, clock })
  await thread.start()
  const engine = new Engine(thread, { maxDataBytes: LIMITS.dataBytes, clock, host: 'test', pid: process.pid, local: true })

  const work = defineJob({ name: 'work', maxAttempts: 1 })
  const child = defineJob({ name: 'child', maxAttempts: 1 })
  const runs = new Map<string, number[]>()
  const started = (id: string, run: number) => runs.set(id, [...(runs.get(id) ?? []), run])
  const handlers = [
    work.handler(async ({ job, enqueue, checkpoint, log }) => {
      started(job.id, job.run)
      log('info', 'running')
      enqueue(child, { parent: job.id })
      // May be of unknown outcome: the run goes on all the same.
      if (job.run % 2 === 1) await checkpoint(job.run).catch(() => {})
      return job.id
    }),
    child.handler(({ job }) => void started(job.id, job.run)),
  ]
  for (let worker = 0; worker < 3; worker++) engine.work(handlers, { concurrency: 8 })

  let stopping = false
  let acknowledged = 0
  let unknown = 0
  const outputs: Promise<unknown>[] = []
  async function produce(producer: number): Promise<void> {
    for (let turn = 0; !stopping; turn++) {
      const idempotencyKey = `${producer}-${turn}`
      for (;;) {
        try {
          const handle = await engine.enqueue(work, null, { idempotencyKey })
          outputs.push(handle.result().then((output) => output === handle.id))
          break
        } catch (error) {
          if (!(error instanceof CommitUnknownError)) throw error
          unknown++
        }
      }
      acknowledged++
    }
  }
  const producing = Promise.all(Array.from({ length: PRODUCERS }, (_, producer) => produce(producer)))

  for (let kill = 0; kill < KILLS; kill++) {
    // So many answers later, and some rounds of this thread's own: whatever the other is doing then.
    for (let answer = Math.floor(random() * 30); answer >= 0; answer--) await engine.stats().catch(() => {})
    for (let round = Math.floor(random() * 300); round >= 0; round--) await new Promise((resolve) => setImmediate(resolve))
    passTime(120_000)
    await writers.kill()
  }
  stopping = true
  await producing
  expect(new Set(await Promise.all(outputs))).toEqual(new Set([true]))
  // The children of the last ones.
  await new Promise<void>((resolve) => {
    const look = () => void engine.stats().then(({ states }) => states.waiting + states.active === 0 && resolve())
    engine.on('completed', look)
    look()
  })
  await engine.stop()

  const { problems, jobs } = auditFile(file)
  expect(problems).toEqual([])
  expect(new Set(jobs.map((job) => `${job.state} at attempt ${job.attempt}`))).toEqual(new Set(['completed at attempt 1']))
  expect(jobs.length).toBe(2 * acknowledged)
  expect([...runs.values()].filter((handled) => handled.length !== 1)).toEqual([])
  expect([runs.size, writers.count]).toEqual([jobs.length, KILLS + 1])
  const again = jobs.filter((job) => job.run > 1).length
  process.stdout.write(
    `writer deaths: ${KILLS} deaths, ${jobs.length} jobs, each run once; ${unknown} calls of unknown outcome, ${again} hand-outs never received and repeated\n`,
  )
})
