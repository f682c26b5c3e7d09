/** Imports what a source has: each entry once, because its key derives from its id there. */
import type { Engine, EnqueueOptions, JobRequest } from '@millrace/engine'
import { again } from '../cli/again.ts'
import { Chunks, isOfOne } from '../cli/chunks.ts'
import { keyOf } from './mapping.ts'
import { checked, ERRORS_MAX, type Overrides, overridden } from './plan.ts'
import type { Found, Outcome, Source } from './source.ts'

export interface Taken {
  /** Jobs that are new, those of flows included. */
  jobs: number
  flows: number
  schedules: number
  /** Jobs, flows and schedules of an earlier run. */
  existing: number
  unfit: number
  readonly errors: { readonly id: string; readonly code: string; readonly message: string }[]
}

export interface TakeOptions {
  readonly engine: Engine
  readonly source: Source
  /** Begins the idempotency keys. */
  readonly name: string
  readonly overrides: Overrides
  readonly signal: AbortSignal
  readonly onProgress: (taken: Taken) => void
}

/** How long an entry is recognized, so that the same import can run again. A job that lives longer is recognized for its life. */
const KNOWN_FOR = '30d'

/** Imports everything. If it is interrupted, the error has what was `taken`. */
export async function takeAll(options: TakeOptions): Promise<Taken> {
  const taken: Taken = { jobs: 0, flows: 0, schedules: 0, existing: 0, unfit: 0, errors: [] }
  try {
    await new Taker(options, taken).run()
    return taken
  } catch (error) {
    throw Object.assign(error as Error, { taken })
  }
}

class Taker {
  readonly #options: TakeOptions
  readonly #taken: Taken
  readonly #chunks: Chunks<Found>

  constructor(options: TakeOptions, taken: Taken) {
    this.#options = options
    this.#taken = taken
    this.#chunks = new Chunks({
      // Each job has a key, so a call whose answer was lost can be repeated.
      enqueue: (jobs) => again(() => options.engine.enqueueMany(jobs)),
      sent: (jobs) => {
        for (const { created } of jobs) created ? taken.jobs++ : taken.existing++
        options.onProgress(taken)
      },
      refused: (found, error) => this.#unfit(found, error),
    })
  }

  async run(): Promise<void> {
    const { source, overrides, signal } = this.#options
    for await (const page of source.found()) {
      for (const found of page) await this.#take(found, checked(overridden(found.outcome, overrides)))
      if (signal.aborted) throw signal.reason
    }
    await this.#chunks.send()
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
    const { jobs } = await again(() => this.#options.engine.flow(nodes, this.#once(found)))
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
    this.#options.onProgress(this.#taken)
  }

  #once({ id }: Found): Pick<EnqueueOptions, 'idempotencyKey' | 'idempotencyTtl'> {
    return { idempotencyKey: keyOf(this.#options.name, id), idempotencyTtl: KNOWN_FOR }
  }

  #unfit({ id }: Found, error: unknown): void {
    this.#taken.unfit++
    const { code = 'INTERNAL', message } = error as Error & { readonly code?: string }
    if (this.#taken.errors.length < ERRORS_MAX) this.#taken.errors.push({ id, code, message })
  }
}
