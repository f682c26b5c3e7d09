/** Collects the runs of one name, and passes them to their handler together. Each is settled on its own, exactly once. */
import { type Clock, isErrorOf } from '@millrace/core'
import type { RunContext } from '../context.ts'
import { type Ending, payloadOf, threw } from '../execute.ts'
import type { Settlement } from '../settlement.ts'
import type { BatchFunction, BatchHandler, BatchSettings } from './handler.ts'
import { settlementsOf } from './outcomes.ts'

type Settle = (settlement: Settlement) => void

/** Collected runs in the order in which they arrived: of one concurrency key, or of all. */
interface Collection {
  readonly runs: Map<RunContext, Settle>
  readonly cancelWait: () => void
}

/** A call of the handler; `wanted` are its runs that are not aborted. */
interface Call {
  readonly wanted: Set<RunContext>
  readonly controller: AbortController
}

export class Batcher {
  readonly #ending: Ending
  readonly #handle: BatchFunction<unknown>
  readonly #settings: BatchSettings
  readonly #maxDataBytes: number
  readonly #clock: Clock
  /** By concurrency key if the handler groups by it; undefined for jobs without one. */
  readonly #collections = new Map<string | undefined, Collection>()
  readonly #calls = new Map<RunContext, Call>()
  #held = false

  constructor({ run, settings }: BatchHandler, ending: Ending, maxDataBytes: number, clock: Clock) {
    this.#handle = run as BatchFunction<unknown>
    this.#settings = settings
    this.#ending = ending
    this.#maxDataBytes = maxDataBytes
    this.#clock = clock
  }

  /** Runs the job with others; never rejects. Data that its schema refuses ends this run alone. */
  async run(context: RunContext): Promise<Settlement> {
    context.isInBatch = true
    try {
      const data = payloadOf(this.#ending, context.grant)
      context.payload = data instanceof Promise ? await data : data
    } catch (error) {
      return threw(this.#ending, context, error)
    }
    if (this.#held || context.aborted !== undefined) return this.#unstarted(context)
    return new Promise((settle) => this.#collect(context, settle))
  }

  /** While held, gives back the collected runs, and those that come. */
  hold(isHeld: boolean): void {
    this.#held = isHeld
    if (!isHeld) return
    for (const key of [...this.#collections.keys()])
      for (const [context, settle] of this.#takeCollected(key)) settle(this.#unstarted(context))
  }

  /** Called for every run that is aborted. Returns true if that is its end: the handler does not have it yet, and never will. */
  withdraw(context: RunContext): boolean {
    const key = this.#keyOf(context)
    const runs = this.#collections.get(key)?.runs
    const settle = runs?.get(context)
    if (settle === undefined) {
      const call = this.#calls.get(context)
      call?.wanted.delete(context)
      if (call?.wanted.size === 0) call.controller.abort(context.aborted)
      return false
    }
    runs?.delete(context)
    if (runs?.size === 0) this.#takeCollected(key)
    settle(this.#unstarted(context))
    return true
  }

  #keyOf({ grant }: RunContext): string | undefined {
    return this.#settings.groupBy === undefined ? undefined : grant.concurrencyKey
  }

  #collect(context: RunContext, settle: Settle): void {
    const key = this.#keyOf(context)
    const collection = this.#collections.get(key) ?? this.#begin(key)
    collection.runs.set(context, settle)
    if (collection.runs.size === this.#settings.size) void this.#call(key)
  }

  #begin(key: string | undefined): Collection {
    const cancelWait = this.#clock.setTimer(this.#settings.maxWaitMs, () => void this.#call(key))
    const collection: Collection = { runs: new Map(), cancelWait }
    this.#collections.set(key, collection)
    return collection
  }

  async #call(key: string | undefined): Promise<void> {
    const batch = this.#takeCollected(key)
    const contexts = batch.map(([context]) => context)
    const call: Call = { wanted: new Set(contexts), controller: new AbortController() }
    for (const context of contexts) this.#calls.set(context, call)
    const settlements = await this.#outcomes(contexts, call.controller.signal)
    for (const context of contexts) this.#calls.delete(context)
    for (const [index, [, settle]] of batch.entries()) settle(settlements[index] as Settlement)
  }

  async #outcomes(contexts: readonly RunContext[], signal: AbortSignal): Promise<readonly Settlement[]> {
    try {
      // A copy: the handler may change its list.
      const outcomes: unknown = await this.#handle([...contexts], { signal })
      return settlementsOf(this.#ending, contexts, outcomes, this.#maxDataBytes)
    } catch (error) {
      return contexts.map((context) => threw(this.#ending, context, error))
    }
  }

  #takeCollected(key: string | undefined): readonly (readonly [RunContext, Settle])[] {
    const collection = this.#collections.get(key)
    this.#collections.delete(key)
    collection?.cancelWait()
    return [...(collection?.runs ?? [])]
  }

  #unstarted(context: RunContext): Settlement {
    const { aborted, grant } = context
    if (aborted === undefined || isErrorOf(aborted, 'WorkerStoppedError')) return { op: 'giveBack', seq: grant.seq, run: grant.run }
    return threw(this.#ending, context, aborted)
  }
}
