/** `importFrom`: reads the store of another queue, plans what becomes of its entries, and creates them in an engine. */
import type { Engine } from '@millrace/client'
import { OptionRangeError } from '@millrace/core'
import { checkOptions, type ImportFromOptions, type ImportSource } from './options.ts'
import { type ImportPlan, type Overrides, planOf } from './plan.ts'
import type { Source } from './source.ts'
import { SOURCES } from './sources.ts'
import { type ImportProgress, takeAll } from './take.ts'

/** The result of an import. */
export interface ImportResult extends ImportProgress {
  /** True if jobs came or went in the other queue meanwhile: stop its producers and workers, and import the rest. */
  readonly changed: boolean
}

interface Opened {
  readonly from: ImportSource
  readonly store: Source
  readonly overrides: Overrides
  readonly signal: AbortSignal | undefined
}

/** An import that has been planned. `importFrom` returns it. Close it, because it holds a connection to the other queue's store. */
export class QueueImport {
  /** Describes the other queue and its store, without a password: `BullMQ at redis://host:6379`. */
  readonly source: string
  /** Says what the store has, and what becomes of it. */
  readonly plan: ImportPlan
  readonly #opened: Opened
  /** The version of the store when the plan was made. */
  readonly #version: string
  readonly #forget: () => void

  /** @internal `importFrom` makes imports. */
  constructor(opened: Opened, plan: ImportPlan, version: string, forget: () => void) {
    this.source = `${SOURCES[opened.from].title} at ${opened.store.at}`
    this.plan = plan
    this.#opened = opened
    this.#version = version
    this.#forget = forget
  }

  /**
   * Creates the jobs, flows and schedules of the plan, each of them once: if it ends halfway, the same import adds the rest. An engine
   * of `connect` needs a token with the scope `admin`.
   *
   * @param onProgress called with the amounts so far, after each chunk of jobs
   * @throws SourceError if the store can no longer be read
   */
  into(engine: Engine, onProgress: (progress: ImportProgress) => void = () => {}): Promise<ImportResult> {
    const { from, store, overrides, signal } = this.#opened
    return abortable(signal, async () => {
      const taken = await takeAll({ engine, source: store, name: from, overrides, signal, onProgress })
      return { ...taken, changed: (await store.version()) !== this.#version }
    })
  }

  /** Closes the connection to the other queue's store. */
  async close(): Promise<void> {
    this.#forget()
    await this.#opened.store.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Reads the unfinished jobs and the schedules of another queue, and plans what becomes of each. Nothing is written to that queue's store, and
 * nothing is created until you call `into`.
 *
 * @param from the other queue
 * @param url the URL of its store: `redis://` for BullMQ, `postgres://` for pg-boss and Graphile Worker, `mongodb://` for Agenda
 * @throws SourceError if the store cannot be reached or read, NotFoundError if it does not have the queue
 * @example
 * await using queue = await importFrom('bullmq', 'redis://localhost:6379', { only: ['mail'] })
 * console.table(queue.plan.rows)
 * const { jobs, unfit } = await queue.into(engine)
 */
export async function importFrom(from: ImportSource, url: string, options: ImportFromOptions = {}): Promise<QueueImport> {
  checkOptions(from, Object.keys(SOURCES) as ImportSource[], options)
  const kind = SOURCES[from]
  if (!kind.url.test(url))
    throw new OptionRangeError('from', kind.example, `${from} requires the URL of its store, such as ${kind.example}`)
  const { namespace = kind.namespace, only, includeActive = false, name, rename = {}, options: jobOptions = {}, signal, onRead } = options
  signal?.throwIfAborted()
  const store = await kind.connect({ url, namespace, includeActive, only: only === undefined ? undefined : new Set(only) })
  // A query under way would hold the import for as long as it takes.
  const close = () => void store.close().catch(() => {})
  signal?.addEventListener('abort', close, { once: true })
  const forget = () => signal?.removeEventListener('abort', close)
  const overrides = { name, renamed: new Map(Object.entries(rename)), options: jobOptions }
  try {
    return await abortable(signal, async () => {
      await store.check()
      const version = await store.version()
      const plan = await planOf(store, overrides, (entries) => {
        signal?.throwIfAborted()
        onRead?.(entries)
      })
      return new QueueImport({ from, store, overrides, signal }, plan, version, forget)
    })
  } catch (error) {
    forget()
    close()
    throw error
  }
}

/** Runs a call that fails when the signal closes its connection: it then rejects with the reason of the signal. */
async function abortable<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted()
  try {
    return await call()
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
