// The dashboard of a file with a million jobs: the first data of each screen comes soon, and a list that would take long says that it goes on.
import { once } from 'node:events'
import { defineJob, openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { expect, onTestFinished, test } from 'vitest'
import { FRAME, listOf, questions } from '../dashboard/questions.ts'
import { temporaryFile } from '../temporary.ts'
import { fillFile, SOUGHT } from './manyJobs.ts'

const JOBS = 1_000_000
/** Most answers take a hundredth of it, and a look at many jobs ends by its own clock before. */
const FIRST_DATA_MS = 300
const TIMES = 5
const RUNNING = 16
const TOKEN = 'a-token-of-the-test-0123456789'

/** Lists that look at one job after the other, most of which do not fit. */
const LOOKS = [
  `key=${SOUGHT.customer}`,
  `error=${SOUGHT.error}`,
  'worker=nobody',
  'search=nothing-has-this',
  'state=waiting&search=nothing-has-this',
  'state=scheduled&retrying=false&order=due&search=nothing-has-this',
  'state=failed&order=finished&search=nothing-has-this',
  'state=completed&order=finished&search=nothing-has-this',
  `state=failed&order=finished&fingerprint=${SOUGHT.fingerprint}`,
  `state=failed&order=finished&error=nothing`,
  `state=completed&order=finished&key=${SOUGHT.customer}`,
].map(listOf)

interface Answer {
  readonly jobs?: readonly { readonly id: string }[]
  readonly next?: string
  readonly partial?: true
}

test('a million jobs: the first data of each screen within 300 ms, and long looks in parts', { timeout: 600_000 }, async () => {
  const file = temporaryFile()
  const now = Date.now()
  fillFile(file, JOBS, now)
  const engine = await openEngine({ file, durability: 'normal' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const { fetch } = createHttp(engine, { token: TOKEN })
  const headers = { authorization: `Bearer ${TOKEN}` }

  /** Returns the answer, and the shortest of the times that it took: other programs have their share of the others. */
  const ask = async (path: string): Promise<{ readonly answer: Answer; readonly ms: number }> => {
    const times: number[] = []
    for (;;) {
      const began = performance.now()
      const response = await fetch(new Request(`http://127.0.0.1${path}`, { headers }))
      const answer = (await response.json()) as Answer
      times.push(performance.now() - began)
      expect(response.status, path).toBe(200)
      if (times.length === TIMES) return { answer, ms: Math.round(Math.min(...times)) }
    }
  }

  await runSome(engine)
  expect(await engine.stats({ names: 'none' })).toMatchObject({ states: { active: RUNNING, completed: expect.closeTo(JOBS * 0.54, -4) } })
  const { queue, name, worker } = SOUGHT
  const { id: flow } = await engine.flow([
    { ref: 'first', job: 'reports-first' },
    { ref: 'second', job: 'reports-second', dependsOn: ['first'] },
  ])
  const [failed] = (await ask(listOf('state=failed&order=finished'))).answer.jobs ?? []
  const screens = questions({ job: failed?.id ?? '', flow, queue, name, worker }, now)
  const slow: string[] = []
  for (const path of new Set([...FRAME, ...Object.values(screens).flat()])) {
    const { answer, ms } = await ask(path)
    if (ms > FIRST_DATA_MS) slow.push(`${path} took ${ms} ms`)
    // The first data is there, or there is none.
    if (answer.jobs?.length === 0 && answer.next !== undefined) slow.push(`${path} still looks for its first job`)
  }
  for (const path of LOOKS) {
    const { answer, ms } = await ask(path)
    if (ms > FIRST_DATA_MS) slow.push(`${path} took ${ms} ms`)
    expect(answer, path).toMatchObject({ partial: true, next: expect.any(String) })
  }
  expect(slow).toEqual([])
})

/** Runs jobs that do not end. */
async function runSome(engine: Awaited<ReturnType<typeof openEngine>>): Promise<void> {
  const { queue, name, worker } = SOUGHT
  let started = 0
  const all = new Promise<void>((resolve) => {
    const job = defineJob({ name, queue, timeout: Number.POSITIVE_INFINITY })
    const hang = job.handler(({ signal }) => {
      started++
      if (started === RUNNING) resolve()
      return once(signal, 'abort')
    })
    engine.work([hang], { id: worker, concurrency: RUNNING })
  })
  await all
}
