/** Explains why a job has not ended: what the engine answers, in words. */
import { type Cause, type CauseCode, type Clock, type Explanation, formatId, type JobKey, parseId, type State } from '@millrace/core'
import { within } from '@millrace/worker'
import { textOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { keyOfShortId } from './shortId.ts'

/** One thing that keeps a job from its start. */
export interface JobCause {
  /** A stable code, such as 'queue-paused'. */
  readonly code: CauseCode
  /** The cause in a sentence without a subject, such as "waits, because queue 'mail' is paused". */
  readonly message: string
  /** The key, the name of the shared limit, or the name of the sleep. */
  readonly of?: string
  /** When the cause ends, unless something else happens before. Absent if only a change ends it. */
  readonly until?: Date
  /** The part of `limit` that is used; for 'parents', the jobs that have not ended. */
  readonly used?: number
  /** The limit, or the room of the workers. */
  readonly limit?: number
}

/** Why a job has not ended, as `engine.explain` returns it. */
export interface JobExplanation {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly attempt: number
  readonly maxAttempts: number
  /** The time at which the engine ends its run, as `deadlineAt` of `get`. Absent if it does not run, or nothing limits it. */
  readonly deadlineAt?: Date
  /** The first of the causes in such a sentence, or what the job does if it waits for nothing. */
  readonly message: string
  /** All that keeps it from its start now. Empty for a job that runs or has ended. */
  readonly causes: readonly JobCause[]
}

type Words = (cause: Cause, job: Explanation) => string

const until = ({ until: at }: Cause): string => (at === undefined ? '' : ` until ${new Date(at).toISOString()}`)
const deadline = ({ deadlineAt: at }: Explanation): string => (at === undefined ? '' : `, with a deadline of ${new Date(at).toISOString()}`)
const key = ({ of }: Cause): string => `key '${of}'`
const usage = ({ used, limit }: Cause): string => `${used} of ${limit}`

/** The words for each cause, which follow "waits". */
export const WORDS: { readonly [Code in CauseCode]: Words } = {
  time: (cause) => ` for its time${until(cause)}`,
  retry: (cause) => ` to be tried again${until(cause)}`,
  sleep: (cause) => `, because its handler sleeps in '${cause.of}'${until(cause)}`,
  message: (cause) => ` for the message '${cause.of}'${until(cause)}`,
  'steps-changed': (cause) => ` for code that fits the steps that it has recorded, and is tried again${until(cause)}`,
  parents: ({ used }) => (used === undefined ? ' for other jobs of its flow' : ` for ${used} other ${used === 1 ? 'job' : 'jobs'} to end`),
  'all-paused': () => ', because all queues are paused',
  'queue-paused': (cause, { queue }) => `, because queue '${queue}' is paused${until(cause)}`,
  'name-paused': (cause, { name, queue }) => `, because '${name}' is paused in queue '${queue}'${until(cause)}`,
  'key-paused': (cause, { queue }) => `, because ${key(cause)} is paused in queue '${queue}'${until(cause)}`,
  'no-worker': (_, { name, queue }) => `, because no worker serves '${name}' in queue '${queue}'`,
  'workers-unavailable': (_, { name, queue }) => `, because all workers for '${name}' in queue '${queue}' are paused, stopping or away`,
  'workers-full': (cause) => `, because no worker has room for it now: ${usage(cause)} places are taken`,
  'queue-limit': (cause, { queue }) => `, because queue '${queue}' runs as many jobs as it may: ${usage(cause)}`,
  'shared-limit': (cause) => `, because the queues that share the limit '${cause.of}' run as many jobs as they may: ${usage(cause)}`,
  'rate-limit': (cause, { queue }) => `, because queue '${queue}' has started as many jobs as its rate allows${until(cause)}`,
  'key-order': (cause) => `, because an earlier job of ${key(cause)} has not ended`,
  'key-limit': (cause) => `, because ${key(cause)} runs as many jobs as it may: ${usage(cause)}`,
  'key-rate-limit': (cause) => `, because ${key(cause)} has started as many jobs as its rate allows${until(cause)}`,
  line: (_, { queue }) => ` in line in queue '${queue}': jobs before it start first`,
}

/** Shows a code that only a later engine knows as it is. */
function sentenceOf(cause: Cause, job: Explanation): string {
  return `waits${WORDS[cause.code]?.(cause, job) ?? ` (${cause.code})`}`
}

function messageOf(job: Explanation): string {
  const [first] = job.causes
  if (first !== undefined) return sentenceOf(first, job)
  if (job.state === 'active') return `is running at attempt ${job.attempt} of ${job.maxAttempts}${deadline(job)}`
  if (job.state === 'completed' || job.state === 'cancelled') return `is ${job.state}`
  return job.attempt === 0 ? 'has failed without a run' : `has failed after attempt ${job.attempt}`
}

export async function explainJob(calls: Pick<Mailbox, 'call'>, id: string): Promise<JobExplanation | undefined> {
  const asked = parseId(textOf(id)) ?? (await keyOfShortId(calls, id))
  const job = asked && (await calls.call<'explain'>({ op: 'explain', id: asked }))
  if (!job) return undefined
  const causes = job.causes.map((cause): JobCause => {
    const { until: at, ...rest } = cause
    return { ...rest, message: sentenceOf(cause, job), ...(at !== undefined && { until: new Date(at) }) }
  })
  const { deadlineAt, ...rest } = job
  const deadline = deadlineAt === undefined ? {} : { deadlineAt: new Date(deadlineAt) }
  return { id: formatId(asked as JobKey), ...rest, ...deadline, message: messageOf(job), causes }
}

/** The longest wait for the answer: an engine that is out of reach is not waited for. */
const PATIENCE_MS = 250
/** The maximum number of jobs to ask about at a time: thousands of results may time out together. */
const ASKED_MAX = 16

const ASKING = new WeakMap<Mailbox, number>()

/** Returns the reason for the message of ResultTimeoutError if the engine answers at once, or undefined if it is unknown. */
export async function whyLate(mailbox: Mailbox, clock: Clock, id: JobKey): Promise<string | undefined> {
  const asking = ASKING.get(mailbox) ?? 0
  if (asking >= ASKED_MAX) return undefined
  ASKING.set(mailbox, asking + 1)
  try {
    const job = await within(clock, PATIENCE_MS, mailbox.call<'explain'>({ op: 'explain', id }))
    return job === null || job === undefined || (job.causes.length === 0 && job.state !== 'active') ? undefined : messageOf(job)
  } catch {
    return undefined
  } finally {
    ASKING.set(mailbox, (ASKING.get(mailbox) ?? 1) - 1)
  }
}
