/** Callers that wait for a job to become final. */
import { CANCELLED, COMPLETED, DEFERRED, FAILED, formatId, isFinal, type JobKey, type Outcome, Refused } from '@millrace/core'
import {
  attemptOf,
  type ConnectionId,
  DROPPED,
  type Effects,
  findRow,
  type Job,
  type JobRow,
  type Questions,
  type Sender,
} from '@millrace/core/kernel'
import { type Post, WaitingRoom } from './waitingRoom.ts'

interface Watch extends Sender {
  readonly id: JobKey
}

/** Jobs that run or stand in a window, by seq. */
type Live = ReadonlyMap<number, Job>

/** The bounds of what is read together. */
const TOGETHER_MAX = 1_000
const TOGETHER_BYTES = 2 ** 20

export class ResultWaiters {
  readonly #bySeq = new Map<number, Set<Watch>>()
  readonly waiting = new WaitingRoom<Watch>()
  /** Rows that were read together for the questions of this turn, by seq. */
  readonly #together = new Map<number, JobRow>()

  /** Reads the jobs of the questions that follow until `forgetRows`, in one round trip to a store on another machine. */
  readTogether(store: Questions, live: Live, ids: readonly JobKey[]): void {
    const seqs = ids.filter((id) => !isUnfinished(live, id)).map(({ seq }) => seq)
    if (seqs.length < 2) return
    const rows = store.jobsInPlace(seqs.slice(0, TOGETHER_MAX), TOGETHER_BYTES)
    for (const row of rows) if (row !== undefined) this.#together.set(row.seq, row)
  }

  forgetRows(): void {
    this.#together.clear()
  }

  /** Returns the outcome of a final job; otherwise the caller waits. */
  ask(store: Questions, live: Live, id: JobKey, sender: Sender): Outcome | Refused | typeof DEFERRED {
    if (isUnfinished(live, id)) return this.#wait(id, sender)
    const row = this.#find(store, id)
    const found = row === undefined ? notFound(id) : read(store, row)
    // The number of a job that came by a journal is another one here.
    return found === DEFERRED && row !== undefined ? this.#wait(row, sender) : found
  }

  #find(store: Questions, id: JobKey): JobRow | undefined {
    const row = this.#together.get(id.seq)
    return row !== undefined && isOf(row, id) ? row : findRow(store, id)
  }

  #wait({ seq, node, enqueuedAt }: JobKey, { connection, request }: Sender): typeof DEFERRED {
    const watch = { connection, request, id: { seq, node, enqueuedAt } }
    const others = this.#bySeq.get(seq)
    if (others === undefined) this.#bySeq.set(seq, new Set([watch]))
    else others.add(watch)
    this.waiting.add(watch)
    return DEFERRED
  }

  /** Answers for the jobs that this turn has made final or deleted, from the records: retention may have removed the rows already. */
  settle(effects: Effects, post: Post): void {
    for (const job of effects.settled) {
      const watches = this.#bySeq.get(job.seq)
      if (watches === undefined) continue
      this.#bySeq.delete(job.seq)
      const value = outcomeOf(job, effects)
      for (const watch of watches) {
        this.waiting.delete(watch)
        post(watch.connection, { id: watch.request, value })
      }
    }
  }

  /** Answers for jobs that are final; runs after a reload, since outcomes may never have been delivered. */
  recheck(store: Questions, live: Live, post: Post): void {
    const all = [...this.#bySeq]
    for (let at = 0; at < all.length; at += TOGETHER_MAX) {
      const some = all.slice(at, at + TOGETHER_MAX)
      const ids = some.flatMap(([, watches]) => [...watches].map(({ id }) => id))
      this.readTogether(store, live, ids)
      for (const [seq] of some) this.#check(store, live, seq, post)
      this.forgetRows()
    }
  }

  forget(connection: ConnectionId, request?: number): void {
    for (const watch of this.waiting.take(connection, request)) this.#remove(watch)
  }

  #check(store: Questions, live: Live, seq: number, post: Post): void {
    for (const watch of this.#bySeq.get(seq) ?? []) {
      if (isUnfinished(live, watch.id)) continue
      const row = this.#find(store, watch.id)
      const found: Outcome | typeof DEFERRED = row === undefined ? { state: 'deleted' } : read(store, row)
      if (found === DEFERRED) continue
      this.waiting.delete(watch)
      this.#remove(watch)
      post(watch.connection, { id: watch.request, value: found })
    }
  }

  #remove(watch: Watch): void {
    const others = this.#bySeq.get(watch.id.seq)
    others?.delete(watch)
    if (others?.size === 0) this.#bySeq.delete(watch.id.seq)
  }
}

function isOf(job: JobKey, { node, enqueuedAt }: JobKey): boolean {
  return job.node === node && job.enqueuedAt === enqueuedAt
}

/** Returns true if memory shows that the job has not ended. */
function isUnfinished(live: Live, id: JobKey): boolean {
  const job = live.get(id.seq)
  return job !== undefined && isOf(job, id) && !isFinal(job.state)
}

function outcomeOf(job: Job, effects: Effects): Outcome {
  switch (job.state) {
    case COMPLETED:
      return { state: 'completed', output: job.output }
    case CANCELLED:
      return cancelled(job)
    case FAILED: {
      const error = effects.runs.findLast((run) => run.seq === job.seq)?.error ?? NO_ERROR
      return { state: 'failed', error, attempt: attemptOf(job) }
    }
    default:
      return { state: 'deleted' }
  }
}

const NO_ERROR = { name: 'Error', message: 'the run has left no error' }

function notFound(id: JobKey): Refused {
  const jobId = formatId(id)
  return new Refused({ code: 'JOB_NOT_FOUND', message: `there is no job ${jobId}`, details: { jobId } })
}

function read(store: Questions, row: JobRow): Outcome | typeof DEFERRED {
  if (!isFinal(row.state)) return DEFERRED
  if (row.state === FAILED) {
    const error = store.lastError(row.seq) ?? NO_ERROR
    return { state: 'failed', error, attempt: row.run - row.uncounted }
  }
  return row.state === COMPLETED ? { state: 'completed', output: row.output } : cancelled(row)
}

function cancelled({ dropped, extras }: Pick<Job, 'dropped' | 'extras'>): Outcome {
  return dropped ? { state: 'cancelled', error: DROPPED } : { state: 'cancelled', ...extras?.cancel }
}
