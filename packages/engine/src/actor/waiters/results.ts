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

export class ResultWaiters {
  readonly #bySeq = new Map<number, Set<Watch>>()
  readonly #waiting = new WaitingRoom<Watch>()

  /** The number of callers that wait for a result. */
  get size(): number {
    return this.#waiting.size
  }

  /** Returns the outcome of a final job; otherwise the caller waits. */
  ask(store: Questions, id: JobKey, sender: Sender): Outcome | Refused | typeof DEFERRED {
    const row = findRow(store, id)
    const found = row === undefined ? notFound(id) : read(store, row)
    if (found !== DEFERRED || row === undefined) return found
    const { connection, request } = sender
    const watch = { connection, request, id: { seq: row.seq, node: row.node, enqueuedAt: row.enqueuedAt } }
    const others = this.#bySeq.get(row.seq)
    if (others === undefined) this.#bySeq.set(row.seq, new Set([watch]))
    else others.add(watch)
    this.#waiting.add(watch)
    return DEFERRED
  }

  /** Answers for the jobs that this turn has made final or deleted, from the records: retention may have removed the rows already. */
  settle(effects: Effects, post: Post): void {
    if (this.#bySeq.size === 0) return
    for (const job of effects.settled) {
      const watches = this.#bySeq.get(job.seq)
      if (watches === undefined) continue
      this.#bySeq.delete(job.seq)
      const value = outcomeOf(job, effects)
      for (const watch of watches) {
        this.#waiting.delete(watch)
        post(watch.connection, { id: watch.request, value })
      }
    }
  }

  /** Answers for jobs that are final; runs after a reload, since outcomes may never have been delivered. */
  recheck(store: Questions, post: Post): void {
    for (const seq of [...this.#bySeq.keys()]) this.#check(store, seq, post)
  }

  forget(connection: ConnectionId, request?: number): void {
    for (const watch of this.#waiting.take(connection, request)) this.#remove(watch)
  }

  #check(store: Questions, seq: number, post: Post): void {
    for (const watch of this.#bySeq.get(seq) ?? []) {
      const row = findRow(store, watch.id)
      const found: Outcome | typeof DEFERRED = row === undefined ? { state: 'deleted' } : read(store, row)
      if (found === DEFERRED) continue
      this.#waiting.delete(watch)
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
