/** Finds out why a job has not ended yet, if the engine answers at once: for the message of ResultTimeoutError. */
import type { Clock, JobKey, JobView, Stats } from '@millrace/core'
import { within } from '@millrace/worker'
import type { Mailbox } from './mailbox.ts'

/** The longest wait for the answer: an engine that is out of reach is not waited for. */
const PATIENCE_MS = 250
/** The maximum number of jobs to ask about at a time: thousands of results may time out together. */
const ASKED_MAX = 16

type Reasons = Pick<Stats, 'paused' | 'queues' | 'unserved'>

interface Asking {
  jobs: number
  /** The stats that all concurrent questions share, since they look at every queue. */
  stats: Promise<Reasons> | undefined
}

const ASKING = new WeakMap<Mailbox, Asking>()

/** Returns the reason, or undefined if it is unknown. */
export async function whyLate(mailbox: Mailbox, clock: Clock, id: JobKey): Promise<string | undefined> {
  const asking = ASKING.get(mailbox) ?? { jobs: 0, stats: undefined }
  ASKING.set(mailbox, asking)
  if (asking.jobs >= ASKED_MAX) return undefined
  asking.jobs++
  try {
    return await within(clock, PATIENCE_MS, reasonOf(mailbox, id, asking))
  } catch {
    return undefined
  } finally {
    asking.jobs--
  }
}

async function reasonOf(mailbox: Mailbox, id: JobKey, asking: Asking): Promise<string | undefined> {
  const job = await mailbox.call<'get'>({ op: 'get', id })
  if (job === null) return undefined
  switch (job.state) {
    case 'active':
      return `is running at attempt ${job.attempt} of ${job.maxAttempts}`
    case 'scheduled':
      return `waits ${job.attempt > 0 ? 'to be tried again' : 'for its time'} until ${new Date(job.runAt).toISOString()}`
    case 'blocked':
      return 'waits for other jobs of its flow'
    case 'waiting':
      return whyWaiting(await statsOf(mailbox, asking), job)
    default:
      return undefined
  }
}

function statsOf(mailbox: Mailbox, asking: Asking): Promise<Reasons> {
  asking.stats ??= mailbox.call<'stats'>({ op: 'stats', names: 'none', definitions: 'disputed' }).finally(() => {
    asking.stats = undefined
  })
  return asking.stats
}

function whyWaiting({ paused, queues, unserved }: Reasons, { name, queue }: JobView): string {
  if (paused) return 'waits, because all queues are paused'
  if (queues[queue]?.paused === true) return `waits, because queue '${queue}' is paused`
  if (unserved.some((lane) => lane.queue === queue && lane.name === name))
    return `waits, because no worker serves '${name}' in queue '${queue}'`
  return `waits in queue '${queue}' for a worker with room, or for a limit of the queue`
}
