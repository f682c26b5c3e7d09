/** The questions that each screen asks when it opens: held against the pages by questions.test.ts, and asked of a million jobs by test/limits. */

export interface Shown {
  readonly job: string
  readonly flow: string
  readonly queue: string
  readonly name: string
  readonly worker: string
}

const HOUR_MS = 3_600_000
/** The tabs of the list of jobs, and the query of each. */
const TABS = {
  waiting: 'state=waiting',
  active: 'state=active',
  retrying: 'state=scheduled&retrying=true&order=due',
  scheduled: 'state=scheduled&retrying=false&order=due',
  blocked: 'state=blocked',
  failed: 'state=failed&order=finished',
  completed: 'state=completed&order=finished',
  cancelled: 'state=cancelled&order=finished',
} as const

export const listOf = (query: string): string => `/v1/jobs?${query === '' ? '' : `${query}&`}payload=preview&include=lastRun&limit=50`

const STATS = '/v1/stats?names=none&definitions=disputed'
const STATS_WITH_TIMES = '/v1/stats?names=percentiles&definitions=disputed'

/** The questions of every screen, beside its own. */
export const FRAME = ['/v1/info', '/v1/failures?trend=hour']

/** Returns the questions by the address of the screen. A time in them is the last hour, or so, before `now`. */
export function questions({ job, flow, queue, name, worker }: Shown, now: number): Readonly<Record<string, readonly string[]>> {
  const since = (hours: number) => encodeURIComponent(new Date(now - hours * HOUR_MS).toISOString())
  const history = (step: string, hours: number, limit: number) => `/v1/history?queues=*&step=${step}&from=${since(hours)}&limit=${limit}`
  const overview = [STATS_WITH_TIMES, '/v1/workers', '/v1/queues?limit=500', history('minute', 1, 50)]
  return {
    '/': overview,
    '/?period=6h': [...overview, history('minute', 6, 12)],
    '/?period=24h': [...overview, history('hour', 24, 50)],
    '/?period=14d': [...overview, history('hour', 14 * 24, 12)],
    '/jobs': [STATS, listOf('')],
    ...Object.fromEntries(Object.entries(TABS).map(([tab, query]) => [`/jobs?state=${tab}`, [STATS, listOf(query)]])),
    ...Object.fromEntries(
      Object.entries(TABS).map(([tab, query]) => [
        `/jobs?state=${tab}&q=queue:${queue}+name:${name}`,
        [STATS, listOf(query.replace(/(?=&order)|$/, `&queue=${queue}&name=${name}`))],
      ]),
    ),
    [`/jobs/${job}`]: [STATS, `/v1/jobs/${job}?payload=preview`, `/v1/failures?queue=${queue}&name=${name}&limit=200`],
    '/errors': [STATS, '/v1/failures?limit=200&trend=hour'],
    '/queues': [STATS_WITH_TIMES, '/v1/queues?limit=500', history('minute', 1, 50)],
    [`/queues/${queue}`]: [
      STATS_WITH_TIMES,
      `/v1/queues/${queue}`,
      `/v1/queues/${queue}/keys?limit=20`,
      '/v1/stats?names=none&definitions=all',
      '/v1/workers',
      `/v1/history?queue=${queue}&step=minute&from=${since(1)}`,
    ],
    '/flows': [STATS, '/v1/flows'],
    [`/flows/${flow}`]: [STATS, `/v1/flows/${flow}?limit=200`],
    '/schedules': [STATS, '/v1/schedules?limit=200'],
    '/workers': [STATS, '/v1/workers'],
    [`/workers?worker=${worker}`]: [STATS, '/v1/workers', `/v1/jobs?state=active&worker=${worker}&include=lastRun&payload=none&limit=200`],
  }
}

/** Returns a question without the time in it. */
export function timeless(path: string): string {
  return path.replace(/(?<=[?&]from=)[^&]*/, '')
}
