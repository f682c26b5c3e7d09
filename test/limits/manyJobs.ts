/** Fills a file with many jobs in every state, as a day of work leaves them: by turns of the store itself, without an engine. */
import { CANCELLED, FAILED, fingerprintOf, formatFingerprint, SCHEDULED } from '@millrace/core'
import type { Job, JobExtras, Lane, Session } from '@millrace/core/kernel'
import { openStore } from '@millrace/sqlite'
import { seededRandom } from '@millrace/testkit/internal'
import { Turns } from '../../packages/sqlite/src/testing/jobs.ts'

const QUEUES = ['billing', 'imports', 'mail', 'media', 'orders', 'reports', 'search', 'webhooks']
const NAMES = ['first', 'second', 'third']
const ERRORS = [
  { name: 'PaymentDeclined', message: 'card ending 4242 declined' },
  { name: 'TimeoutError', message: 'no answer within 5000 ms' },
] as const
const RARE = { name: 'DiskFull', message: 'no room is left' } as const
/** One failed job in so many has the rare error. */
const RARE_OF = 2_000
const CUSTOMERS = 5_000
const TURNS = 200
const SPAN_MS = 20 * 3_600_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

type Kind = 'completed' | 'failed' | 'cancelled' | 'scheduled' | 'retrying' | 'waiting'
/** The number of each kind in a hundred jobs. */
const OF_HUNDRED: Readonly<Record<Kind, number>> = { completed: 54, failed: 15, cancelled: 4, scheduled: 15, retrying: 2, waiting: 10 }
const KINDS = Object.entries(OF_HUNDRED).flatMap(([kind, count]) => new Array<Kind>(count).fill(kind as Kind))

/** The words that few of the jobs match. */
export const SOUGHT = {
  customer: 'customer-7',
  worker: 'worker-1',
  error: RARE.name,
  fingerprint: formatFingerprint(fingerprintOf(RARE)),
  queue: 'billing',
  name: 'billing-first',
} as const

interface Made {
  readonly lane: Lane
  readonly session: Session
  readonly kind: Kind
  readonly number: number
  readonly runAt: number
}

/** All times are before `now`, except for those of scheduled jobs. Jobs between two attempts are due after all others. */
export function fillFile(file: string, count: number, now: number): void {
  const random = seededRandom(7)
  const store = openStore({ file, durability: 'normal', random, now, host: 'host', pid: process.pid })
  const turns = new Turns(store, now - SPAN_MS)
  const sessions = Array.from({ length: 4 }, (_, place) => turns.session(`worker-${place}`))
  const lanes = QUEUES.flatMap((queue) => NAMES.map((name) => turns.lane(`${queue}-${name}`, queue)))
  for (let turn = 0, made = 0; turn < TURNS; turn++) {
    turns.at = now - SPAN_MS + Math.floor((SPAN_MS * turn) / TURNS)
    noteMinutes(turns, lanes)
    for (const until = Math.ceil((count * (turn + 1)) / TURNS); made < until; made++) {
      const lane = lanes[Math.floor(random() * lanes.length)] as Lane
      const session = sessions[made % sessions.length] as Session
      const runAt = now + HOUR_MS + Math.floor(random() * HOUR_MS)
      addJob(turns, { lane, session, kind: KINDS[Math.floor(random() * KINDS.length)] as Kind, number: made, runAt })
    }
    // Of the events one is enough, which numbers the turn.
    turns.effects.events.splice(1)
    turns.commit()
  }
  store.close()
}

function noteMinutes({ effects, at }: Turns, lanes: readonly Lane[]): void {
  for (const queue of new Set(lanes.map((lane) => lane.queue))) {
    const minute = at - (at % MINUTE_MS)
    effects.minutes.push({ queue, at: minute, before: queue.minuteAt, totals: { ...queue.totals } })
    queue.minuteAt = minute
  }
}

function addJob(turns: Turns, { lane, session, kind, number, runAt }: Made): void {
  const data = JSON.stringify({ number, to: `person-${number % CUSTOMERS}@example.com`, subject: 'Your order has arrived' })
  const job = turns.insert({ lane, data, ...extrasOf(number), ...(kind === 'scheduled' && { runAt }) })
  if (kind === 'completed') {
    turns.start(job, session)
    turns.complete(job)
  } else if (kind === 'failed') fail(turns, job, session, FAILED)
  else if (kind === 'cancelled') {
    job.finishedAt = turns.at
    turns.effects.total(lane, 'cancelled')
    turns.move(job, CANCELLED)
  } else if (kind === 'retrying') {
    job.runAt = runAt + HOUR_MS
    fail(turns, job, session, SCHEDULED)
  }
}

/** One job in two has a tag and a key. */
function extrasOf(number: number): { readonly extras?: JobExtras } {
  const customer = `customer-${number % CUSTOMERS}`
  return number % 2 === 0 ? {} : { extras: { tags: [customer], concurrencyKey: customer } }
}

function fail(turns: Turns, job: Job, session: Session, state: typeof FAILED | typeof SCHEDULED): void {
  const { at, effects } = turns
  const { lane, seq } = job
  turns.start(job, session)
  const error = seq % RARE_OF === 0 ? RARE : (ERRORS[lane.id % ERRORS.length] as (typeof ERRORS)[number])
  effects.runs.push({ seq, run: 1, attempt: 1, startedAt: at, endedAt: at, worker: session.intro.worker, error })
  effects.failures.push({ job, run: 1, error: error.name, fingerprint: fingerprintOf(error) })
  if (state === FAILED) {
    job.finishedAt = at
    effects.total(lane, 'failed')
  }
  turns.move(job, state)
}
