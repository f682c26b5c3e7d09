// The dashboard of a file with a million jobs: the first data of each screen comes soon, and a list that would take long says that it goes on.
import { once } from 'node:events'
import { defineJob, openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'
import { fillFile, SOUGHT } from './manyJobs.ts'

const JOBS = 1_000_000
/** Machines differ and run other things: most answers take a hundredth of it, and a look at many jobs ends by its own clock before. */
const FIRST_DATA_MS = 300
const TIMES = 5
const RUNNING = 16
const TOKEN = 'a-token-of-the-test-0123456789'
const HOUR_MS = 3_600_000

/** The questions that each screen asks when it opens, and those of what opens beside its list. */
function questions(now: number, id: string): Readonly<Record<string, readonly string[]>> {
  const { queue, name, worker } = SOUGHT
  const since = (hours: number) => new Date(now - hours * HOUR_MS).toISOString()
  const history = (step: string, hours: number, limit: number) => `/v1/history?queues=*&step=${step}&from=${since(hours)}&limit=${limit}`
  return {
    frame: ['/v1/info', '/v1/stats?names=percentiles&definitions=disputed', '/v1/failures?trend=hour'],
    overview: [
      '/v1/workers',
      '/v1/queues?limit=500',
      '/v1/schedules?limit=200',
      history('minute', 1, 50),
      history('minute', 6, 12),
      history('hour', 24, 50),
      history('hour', 14 * 24, 12),
    ],
    jobs: TABS.flatMap((tab) => [tab, `${tab}&queue=${queue}`, `${tab}&queue=${queue}&name=${name}`]).map(listOf),
    job: [`/v1/jobs/${id}?payload=preview`, `/v1/failures?queue=${queue}&name=${name}&limit=200`],
    errors: ['/v1/failures?limit=200&trend=hour', `/v1/jobs/${id}?payload=none`],
    queue: [`/v1/queues/${queue}`, `/v1/history?queue=${queue}&step=minute&from=${since(1)}`, '/v1/stats?names=none&definitions=all'],
    workers: [listOf(`state=active&worker=${worker}`)],
  }
}

/** The queries of the tabs, `all` first. */
const TABS = [
  '',
  'state=waiting',
  'state=active',
  'state=scheduled&retrying=true&order=due',
  'state=scheduled&retrying=false&order=due',
  'state=blocked',
  'state=failed&order=finished',
  'state=completed&order=finished',
  'state=cancelled&order=finished',
]

const listOf = (query: string) => `/v1/jobs?${query === '' ? '' : `${query}&`}payload=preview&include=lastRun&limit=50`

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

  /** Returns the answer, and the median of the times that it took. */
  const ask = async (path: string): Promise<{ readonly answer: Answer; readonly ms: number }> => {
    const times: number[] = []
    for (;;) {
      const began = performance.now()
      const response = await fetch(new Request(`http://127.0.0.1${path}`, { headers }))
      const answer = (await response.json()) as Answer
      times.push(performance.now() - began)
      expect(response.status, path).toBe(200)
      if (times.length === TIMES) return { answer, ms: Math.round(times.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)] as number) }
    }
  }

  await runSome(engine)
  expect(await engine.stats({ names: 'none' })).toMatchObject({ states: { active: RUNNING, completed: expect.closeTo(JOBS * 0.54, -4) } })
  const failed = (await ask(listOf('state=failed&order=finished'))).answer.jobs ?? []
  const slow: string[] = []
  for (const [screen, paths] of Object.entries(questions(now, failed[0]?.id ?? ''))) {
    for (const path of paths) {
      const { answer, ms } = await ask(path)
      if (ms > FIRST_DATA_MS) slow.push(`${screen}: ${path} took ${ms} ms`)
      // The first data is there, or there is none.
      if (answer.jobs?.length === 0 && answer.next !== undefined) slow.push(`${screen}: ${path} looks for its first job`)
    }
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
