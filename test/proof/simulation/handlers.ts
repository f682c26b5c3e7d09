/** Handlers that do what their job says, and note every start and end. */
import {
  CancelJobError,
  DEFAULT_POLICY,
  type EnqueueOptions,
  isErrorOf,
  LIMITS,
  NonRetryableError,
  type PausePart,
  RetryAfterError,
} from '@millrace/core'
import { type BatchItem, type BatchOutcome, type Context, type Definition, defineJob, type Handler, type Parent } from '@millrace/worker'
import { Chance } from './chance.ts'
import type { Client } from './client.ts'
import type { EffectLog } from './effectLog.ts'
import type { Model } from './model.ts'
import { interpret } from './programs.ts'
import type { StepBook } from './stepBook.ts'

export const ACTS = [
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  'sync',
  'long',
  'throw',
  'flaky',
  'fatal',
  'retryAfter',
  'snooze',
  'discard',
  'checkpoint',
  'heartbeat',
  'log',
  'child',
  'deaf',
] as const

/** `join` and `program` are drawn beside the others, in worlds that have them. */
export type Act = (typeof ACTS)[number] | 'join' | 'program'

/** Nothing of these fails, takes long, or comes again by itself. */
export const SURE: ReadonlySet<Act> = new Set(['ok', 'sync', 'log', 'checkpoint', 'child'])

/** Why a handler cancels its own job. */
export const UNWANTED = 'not wanted'

export const WRONG_PARENTS = 'WrongParents'

export interface Task {
  readonly number: number
  readonly act: Act
  readonly ms: number
  /** How many lines it logs; one if it does not say. */
  readonly lines?: number
  /** What its `snooze` pauses. */
  readonly pause?: PausePart
  /** How many jobs it must have waited for, where it sees them all. */
  readonly parents?: number
}

/** How long a handler snoozes, and what it pauses with it. */
export const SNOOZE_MS = 130

/** The numbers of jobs that handlers create: above all others. */
const CHILDREN = 1_000_000
/** Of jobs that they join: above those of apps, too. */
const JOINED = 1_000_000_000
/** Groups of one job, and jobs of one group, at the most. */
const GROUPS = 2
const GROUP_SIZE = 3
const JOINED_ACTS = ['ok', 'ok', 'sync', 'throw', 'flaky', 'fatal', 'discard', 'snooze', 'child', 'checkpoint'] as const

export const JOBS: readonly Definition<Task>[] = [
  defineJob<Task>({ name: 'a', backoff: { type: 'fixed', delay: 400 }, timeout: 3_000 }),
  defineJob<Task>({ name: 'b', backoff: { type: 'exponential', delay: 100, factor: 3, maxDelay: 2_000, jitter: 0.2 }, timeout: 20_000 }),
  defineJob<Task>({ name: 'c', backoff: { type: 'linear', delay: 30, jitter: 'full' } }),
]
/** Enqueued by its name alone, in some worlds long before a worker defines it. */
const LATE_DEFAULTS = { name: 'late', timeout: 2_500, heartbeatTimeout: 2_000, maxAttempts: 2, priority: 3 } as const
export const LATE = defineJob<Task>(LATE_DEFAULTS)
/** The same name, as another version of an app defines it. */
export const LATER = defineJob<Task>({ ...LATE_DEFAULTS, maxAttempts: 5 })
export const QUEUES = ['default', 'other'] as const

/** What is said of a job of which nothing else is: in most worlds a lease that ends within them. */
export function plain(): EnqueueOptions {
  return LIMITS.leaseMs === DEFAULT_POLICY.heartbeatTimeout ? {} : { heartbeatTimeout: LIMITS.leaseMs }
}

/** Of handlers that take many jobs at once. */
export interface Batching {
  readonly size: number
  readonly maxWait: number
  readonly groupBy?: 'concurrencyKey'
}

/** Of handlers that remember. */
export interface Remembering {
  readonly book: StepBook
  /** The code is the later version now. */
  readonly isLater: () => boolean
}

export function handlersFor(
  client: Client,
  names: readonly string[],
  log: EffectLog,
  model: Model,
  batching: Batching | undefined,
  remembering: Remembering,
  late = LATE,
): Handler[] {
  const sleep = (ms: number) => new Promise<void>((resolve) => client.clock.setTimer(ms, resolve))
  const started = ({ data, job, signal }: BatchItem<Task>) => {
    // A worker may have a job whose row is gone.
    const seq = model.seqs.get(job.id) as number
    const session = model.jobs.get(seq)?.session ?? ''
    if (job.meta['deadLetter'] !== undefined) log.read(seq, data?.number, model.jobs.get(seq)?.dataOf)
    return log.started(client, session, seq, job.run, () => signal.aborted)
  }
  const handle = (context: Context<Task>): unknown => {
    const execution = started(context)
    if (context.data.act === 'sync') {
      log.ended(execution)
      return 'at once'
    }
    if (context.data.act === 'program' && context.job.meta['deadLetter'] === undefined) {
      // What is left of a handler whose run is over never settles.
      context.signal.addEventListener('abort', () => void (isErrorOf(context.signal.reason, 'RunSuspended') && log.ended(execution)))
      const seq = model.seqs.get(context.job.id) as number
      const interpreted = { book: remembering.book, seq, pass: sleep, isLater: remembering.isLater() }
      return interpret(context, interpreted).finally(() => log.ended(execution))
    }
    const { snooze, discard, cancel } = context
    const joins = () => joinAll(context, model)
    return act(context, sleep, { snooze, discard, cancel, joinAll: joins }).finally(() => log.ended(execution))
  }
  const handleAll = async (items: readonly BatchItem<Task>[]): Promise<BatchOutcome[]> => {
    const executions = items.map(started)
    const outcomes = await Promise.all(items.map((item) => outcomeOf(item, sleep)))
    // None of them is told before the last has ended.
    for (const execution of executions) log.ended(execution)
    if (items.length > 1) log.together(executions, batching?.groupBy !== undefined)
    return outcomes
  }
  return [...JOBS, late]
    .filter(({ name }) => names.includes(name))
    .map((definition) => (batching === undefined ? definition.handler(handle) : definition.handler(handleAll, { batch: batching })))
}

/** What a handler of one job ends itself with. */
interface Endings extends Pick<Context<Task>, 'snooze' | 'discard' | 'cancel'> {
  /** One of many joins nobody. */
  readonly joinAll: (() => Promise<void>) | undefined
}

class Snoozed {
  readonly outcome: BatchOutcome

  constructor(outcome: BatchOutcome) {
    this.outcome = outcome
  }
}

const BATCH_ENDINGS: Endings = {
  snooze: (ms, options) => {
    throw new Snoozed({ snooze: ms, ...options })
  },
  discard: (reason) => {
    throw new NonRetryableError(reason)
  },
  cancel: (reason) => {
    throw new CancelJobError(reason)
  },
  joinAll: undefined,
}

async function outcomeOf(item: BatchItem<Task>, sleep: (ms: number) => Promise<void>): Promise<BatchOutcome> {
  try {
    return { output: await act(item, sleep, BATCH_ENDINGS) }
  } catch (error) {
    return error instanceof Snoozed ? error.outcome : { error }
  }
}

async function act(context: BatchItem<Task>, sleep: (ms: number) => Promise<void>, end: Endings): Promise<unknown> {
  const { data, job, signal } = context
  await sleep(data.ms)
  // The job that it is of may have done its part by now; and it has waited for nobody.
  const isLetter = job.meta['deadLetter'] !== undefined
  if (isLetter && data.act !== 'throw' && data.act !== 'fatal') return 'read'
  if (!isLetter && data.parents !== undefined) await countParents(context, data.parents)
  switch (data.act) {
    case 'throw':
      throw new Error('always')
    case 'flaky':
      if (job.attempt === 1) throw new Error('at first')
      return 'then'
    case 'fatal':
      throw new NonRetryableError('never')
    case 'retryAfter':
      throw new RetryAfterError(150)
    case 'snooze':
      if (job.run < 3) end.snooze(SNOOZE_MS, data.pause === undefined ? {} : { pause: data.pause })
      return 'late'
    case 'discard':
      return data.number % 2 === 0 ? end.discard('not wanted') : end.cancel(UNWANTED)
    case 'checkpoint':
      await context.checkpoint({ at: job.run })
      await sleep(data.ms)
      return job.checkpoint
    case 'heartbeat':
      for (let beat = 0; beat < 8 && !signal.aborted; beat++) {
        await sleep(data.ms)
        await context.heartbeat()
      }
      return 'alive'
    case 'log':
      context.log('info', `run ${job.run}`, { number: data.number })
      for (let line = 1; line < (data.lines ?? 1) && !signal.aborted; line++) {
        await sleep(data.ms % 20)
        context.log('info', `line ${line}`)
      }
      context.progress(0.5, 'half')
      return undefined
    case 'child':
      context.enqueue(JOBS[0] as Definition<Task>, { number: CHILDREN + data.number, act: 'ok', ms: 1 }, plain())
      return undefined
    case 'long':
      for (let part = 0; part < 12 && !signal.aborted; part++) await sleep(data.ms)
      return 'long'
    case 'join':
      await end.joinAll?.()
      return 'joined'
    case 'deaf':
      // Past its deadline and its grace, whatever the signal says.
      await sleep(6_000)
      return 'deaf'
    default:
      return data.number
  }
}

/** A parent may live again by now; but none is forgotten. */
async function countParents({ parents, job }: BatchItem<Task>, expected: number): Promise<void> {
  const refs: string[] = []
  for await (const { ref } of parents()) refs.push(ref)
  if (refs.length !== expected) throw new WrongParents(`job ${job.id} sees ${refs.length} parents of ${expected}`)
}

/** Jobs that a job joins, by its task alone: each of its runs asks for the same. Joined ones may join others, and those none. */
function groupsOf({ number }: Task) {
  const chance = new Chance(number)
  return Array.from({ length: chance.hits(0.35) ? GROUPS : 1 }, (_, group) => {
    const jobs = Array.from({ length: chance.whole(1, GROUP_SIZE) }, (_, index) => {
      const joins = number < JOINED && chance.hits(0.15)
      const data: Task = {
        number: JOINED + (number * GROUPS + group) * GROUP_SIZE + index,
        act: joins ? 'join' : chance.pick(JOINED_ACTS),
        ms: chance.small(200),
      }
      const options: EnqueueOptions = {
        ...plain(),
        maxAttempts: chance.whole(1, 2),
        ...(chance.hits(0.2) && { delay: chance.small(1_500) }),
        ...(chance.hits(0.25) && { queue: 'other' }),
        ...(chance.hits(0.1) && { ttl: chance.whole(1, 1_000) }),
      }
      return { job: chance.pick(JOBS), data, options }
    })
    return { name: `group-${group}`, jobs }
  })
}

/** Joins one group after the other, and looks at each. */
async function joinAll({ data, job, join }: Context<Task>, model: Model): Promise<void> {
  const seq = model.seqs.get(job.id) as number
  for (const { name, jobs } of groupsOf(data)) {
    const asked = () => {
      const known = model.joinedBy(seq, name)
      if (known !== undefined && known.run < job.run) throw new WrongParents(`job ${seq} has joined ${name}, and is asked for it again`)
      return jobs
    }
    const seen: Parent[] = []
    for await (const one of await join(name, asked)) seen.push(one)
    const wrong = model.wrongOfJoined(seq, name, seen)
    if (wrong !== undefined) throw new WrongParents(wrong)
  }
}

/** Told by the model: no handler fails with it otherwise. */
class WrongParents extends Error {
  override readonly name = WRONG_PARENTS
}
