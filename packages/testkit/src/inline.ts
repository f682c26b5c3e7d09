/** Engines for tests: the first knows its workers, the second also runs what is enqueued before it returns. */
import { Engine, type JobHandle, type JobRequest } from '@millrace/client'
import { ACTIVE, BLOCKED, isFinal, type JobKey, parseId, validateWorkOptions, WAITING, type WorkOptions } from '@millrace/core'
import { findRow } from '@millrace/core/kernel'
import type { EnqueueArguments, Handler, JobType, Stored, Worker } from '@millrace/worker'
import type { VirtualClock } from './clock.ts'
import { DRAIN_MS, settle } from './drain.ts'
import type { TestWriter } from './writer.ts'

export class TrackingEngine extends Engine {
  readonly #workers = new Set<Worker>()
  #graceMs = 0

  /** The longest `abortGrace` of all workers that were ever started. */
  get graceMs(): number {
    return this.#graceMs
  }

  override work(handlers: readonly Handler[] | Handler, options?: WorkOptions): Worker {
    const worker = super.work(handlers, options)
    this.#graceMs = Math.max(this.#graceMs, validateWorkOptions(options).abortGraceMs)
    this.#workers.add(worker)
    return worker
  }

  /** Returns the workers that were started since the last call. */
  takeWorkers(): readonly Worker[] {
    const workers = [...this.#workers]
    this.#workers.clear()
    return workers
  }
}

/** An engine whose producing calls resolve once their jobs neither wait nor run: they have ended, or it is not their time yet. */
export class InlineEngine extends TrackingEngine {
  readonly #writer: TestWriter
  readonly #clock: VirtualClock

  constructor(writer: TestWriter, setup: ConstructorParameters<typeof Engine>[1], clock: VirtualClock) {
    super(writer, setup)
    this.#writer = writer
    this.#clock = clock
  }

  override async enqueue<Input, Output>(
    job: JobType<Input, Output> | string,
    ...rest: EnqueueArguments<Input>
  ): Promise<JobHandle<Stored<Output>>> {
    const handle = await super.enqueue(job, ...rest)
    await this.#run([handle], `enqueue of '${typeof job === 'string' ? job : job.name}'`)
    return handle
  }

  override enqueueMany = (async (jobs: readonly JobRequest[]) => {
    const handles = await super.enqueueMany(jobs)
    await this.#run(handles, 'enqueueMany')
    return handles
  }) as Engine['enqueueMany']

  override flow: Engine['flow'] = async (nodes, options) => {
    const flow = await super.flow(nodes, options)
    await this.#run(Object.values<JobHandle>(flow.jobs), 'flow')
    return flow
  }

  async #run(handles: readonly JobHandle[], call: string): Promise<void> {
    const left = new Map(handles.map(({ id }) => parseId(id) as JobKey).map((key) => [key.seq, key]))
    const done = () => {
      for (const key of left.values()) {
        const row = findRow(this.#writer.inThread.actor.store, key)
        if (row?.state === WAITING || row?.state === ACTIVE) return false
        // A job that is blocked, or waits for its time, may be started by another of them. What it has joined comes into the map, and its turn.
        for (const { first, jobs } of row?.state === BLOCKED ? (row.extras?.flow?.joined ?? []) : [])
          for (let seq = first.seq; seq < first.seq + jobs; seq++) left.set(seq, { ...first, seq })
        if (row === undefined || isFinal(row.state)) left.delete(key.seq)
      }
      return true
    }
    const what = `mode 'inline' runs what is enqueued at once, and cannot: ${call}, committed as it is, has left jobs undone`
    await settle(this.#writer, this.#clock, { done, timeoutMs: DRAIN_MS, what })
  }
}
