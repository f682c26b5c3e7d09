/** Imports what a source has: each entry once, because its key derives from its id there. */
import { Chunks, type Engine, isOfOne, type JobRequest, retryLost } from '@millrace/client'
import type { EnqueueOptions } from '@millrace/core'
import { keyOf } from './mapping.ts'
import { checked, ERRORS_MAX, type Overrides, overridden } from './plan.ts'
import type { Found, Outcome, Source } from './source.ts'

/** The amounts that an import has created so far. */
export interface ImportProgress {
  /** The number of new jobs, those of flows included. */
  readonly jobs: number
  readonly flows: number
  readonly schedules: number
  /** The number of jobs, flows and schedules that an earlier import has created. */
  readonly existing: number
  /** The number of entries that could not be imported. */
  readonly unfit: number
  /** The first 20 of them, by the id of the entry. */
  readonly errors: readonly { readonly id: string; readonly code: string; readonly message: string }[]
}

export interface TakeOptions {
  readonly engine: Engine
  readonly source: Source
  /** Begins the idempotency keys. */
  readonly name: string
  readonly overrides: Overrides
  readonly signal: AbortSignal | undefined
  readonly onProgress: (progress: ImportProgress) => void
}

/** How long an entry is recognized, so that the same import can run again. A job that lives longer is recognized for its life. */
const KNOWN_FOR = '30d'

/** Imports everything. */
export function takeAll(options: TakeOptions): Promise<ImportProgress> {
  return new Taker(options).run()
}

class Taker {
  readonly #options: TakeOptions
  readonly #taken = { jobs: 0, flows: 0, schedules: 0, existing: 0, unfit: 0 }
  readonly #errors: { readonly id: string; readonly code: string; readonly message: string }[] = []
  readonly #chunks: Chunks<Found>

  constructor(options: TakeOptions) {
    this.#options = options
    this.#chunks = new Chunks({
      // Each job has a key, so a call whose answer was lost can be repeated.
      enqueue: (jobs) => retryLost(() => options.engine.enqueueMany(jobs)),
      sent: (jobs) => {
        for (const { created } of jobs) created ? this.#taken.jobs++ : this.#taken.existing++
        this.#report()
      },
      refused: (found, error) => this.#unfit(found, error),
    })
  }

  async run(): Promise<ImportProgress> {
    const { source, overrides, signal } = this.#options
    for await (const page of source.found()) {
      for (const found of page) await this.#take(found, checked(overridden(found.outcome, overrides)))
      signal?.throwIfAborted()
    }
    await this.#chunks.send()
    return this.#progress()
  }

  async #take(found: Found, outcome: Outcome): Promise<void> {
    if (outcome.as === 'job') await this.#job(found, outcome.job)
    else if (outcome.as === 'flow') await this.#alone(found, () => this.#flow(found, outcome.nodes))
    else if (outcome.as === 'schedule') await this.#alone(found, () => this.#schedule(outcome))
    else if (outcome.as === 'unfit') this.#unfit(found, outcome.error)
  }

  async #job(found: Found, job: JobRequest): Promise<void> {
    const keyed = { ...job, options: { ...job.options, ...this.#once(found) } }
    await this.#chunks.add(found, keyed, JSON.stringify(job.data)?.length ?? 0)
  }

  async #flow(found: Found, nodes: (Outcome & { readonly as: 'flow' })['nodes']): Promise<void> {
    const { jobs } = await retryLost(() => this.#options.engine.flow(nodes, this.#once(found)))
    if (Object.values(jobs)[0]?.created === false) {
      this.#taken.existing++
      return
    }
    this.#taken.flows++
    this.#taken.jobs += nodes.length
  }

  async #schedule({ id, options, job }: Outcome & { readonly as: 'schedule' }): Promise<void> {
    try {
      await this.#options.engine.schedules.add(id, options, job)
      this.#taken.schedules++
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'SCHEDULE_EXISTS') throw error
      this.#taken.existing++
    }
  }

  /** Runs a call for one entry after those before it. */
  async #alone(found: Found, call: () => Promise<void>): Promise<void> {
    await this.#chunks.send()
    try {
      await call()
    } catch (error) {
      if (!isOfOne(error)) throw error
      this.#unfit(found, error as Error)
    }
    this.#report()
  }

  #report(): void {
    this.#options.onProgress(this.#progress())
  }

  #progress(): ImportProgress {
    return { ...this.#taken, errors: [...this.#errors] }
  }

  #once({ id }: Found): Pick<EnqueueOptions, 'idempotencyKey' | 'idempotencyTtl'> {
    return { idempotencyKey: keyOf(this.#options.name, id), idempotencyTtl: KNOWN_FOR }
  }

  #unfit({ id }: Found, error: unknown): void {
    this.#taken.unfit++
    const { code = 'INTERNAL', message } = error as Error & { readonly code?: string }
    if (this.#errors.length < ERRORS_MAX) this.#errors.push({ id, code, message })
  }
}
