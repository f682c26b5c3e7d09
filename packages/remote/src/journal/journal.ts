/**
 * A producer's journal: it accepts jobs even if there is no engine, resolves when they are synced to the folder, and forwards them
 * in order. Jobs that a killed process has left there are forwarded by the next.
 */
import type { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type EnqueueSink, Forwarder, type ForwarderOptions, type Source } from '@millrace/client'
import {
  BusyError,
  type Clock,
  type Enqueued,
  errorFrom,
  type JobKey,
  LIMITS,
  type Logger,
  type NewJob,
  NODE_LIMIT,
  PLACE_LIMIT,
  type Random,
  type Refusal,
  type SourceEntry,
  sourcedNode,
  weighJob,
} from '@millrace/core'
import { JournalFullError } from '../errors.ts'
import { lockFolder } from './lock.ts'
import { type JournalChunk, JournalLog, makeFolder } from './log.ts'
import { Refusals } from './refusals.ts'

export interface JournalOptions {
  readonly folder: string
  /** The limit for jobs that wait to be forwarded. */
  readonly maxBytes: number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger | undefined
  /** Replaced by tests that need files that fail. */
  readonly openFile?: typeof open
}

/** A call that is not synced yet. */
interface Pending {
  readonly source: Source
  readonly place: number
  readonly entry: SourceEntry
  readonly bytes: number
  readonly resolve: (enqueued: readonly Enqueued[]) => void
  readonly reject: (error: Error) => void
}

/** One sync writes about this much at a time, unless one call alone is more. */
const RECORD_JOBS = 1_000
const RECORD_BYTES = 2 ** 20
const RETRY_AFTER_MS = 100
const STOPPED: Refusal = {
  code: 'ENGINE_STOPPED',
  message: 'the engine was stopped: connect again to continue, also with the entries of its journal',
}

export class Journal implements EnqueueSink {
  readonly #options: JournalOptions
  readonly #log: JournalLog
  readonly #refusals: Refusals
  readonly #unlock: () => void
  #forwarder: Forwarder<JournalChunk> | undefined
  #source: Source
  #nextPlace = 1
  #pending: Pending[] = []
  #pendingBytes = 0
  #writing: Promise<void> | undefined
  #closed: Refusal | undefined
  #closing: Promise<void> | undefined

  private constructor(options: JournalOptions, log: JournalLog, refusals: Refusals, unlock: () => void) {
    this.#options = options
    this.#log = log
    this.#refusals = refusals
    this.#unlock = unlock
    this.#source = JournalLog.newSource(options.random)
  }

  /** @throws JournalInUseError, JournalDamagedError, NotWritableError */
  static async open(options: JournalOptions): Promise<Journal> {
    // The absolute path stays the same if the process changes its folder.
    const folder = resolve(options.folder)
    await makeFolder(folder)
    const unlock = await lockFolder(folder)
    try {
      const log = await JournalLog.open(folder, options.openFile)
      return new Journal({ ...options, folder }, log, await Refusals.open(folder, log.numbers, options.openFile), unlock)
    } catch (error) {
      unlock()
      throw error
    }
  }

  start(call: ForwarderOptions['call']): void {
    const { clock, logger } = this.#options
    this.#forwarder = new Forwarder({ what: 'journal', log: this.#log, refusals: this.#refusals, clock, logger, call })
  }

  append(jobs: readonly NewJob[]): Promise<readonly Enqueued[]> {
    let bytes = 0
    for (const job of jobs) bytes += weighJob(job)
    const refused = this.#refusal(bytes)
    if (refused !== undefined) return Promise.reject(refused)
    // The places of a source have a limit: beyond it another source continues.
    if (this.#nextPlace + jobs.length > PLACE_LIMIT) {
      this.#source = JournalLog.newSource(this.#options.random)
      this.#nextPlace = 1
    }
    const place = this.#nextPlace
    this.#nextPlace += jobs.length
    const at = this.#options.clock.read().wall
    const entry = { at, jobs: jobs.map((job) => anchored(job, at)) }
    return new Promise((resolve, reject) => {
      this.#pending.push({ source: this.#source, place, entry, bytes, resolve, reject })
      this.#pendingBytes += bytes
      // Together with all other calls of this tick.
      this.#writing ??= Promise.resolve().then(() => this.#write())
    })
  }

  settled(key: JobKey): Promise<JobKey> {
    const { node, enqueuedAt } = key
    return (this.#forwarder as Forwarder<JournalChunk>).settled({ seq: Math.floor(node / NODE_LIMIT), node: node % NODE_LIMIT, enqueuedAt })
  }

  async forwarded(): Promise<void> {
    await this.#writing
    await this.#forwarder?.forwarded()
  }

  close(reason = STOPPED): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: Refusal): Promise<void> {
    this.#closed = reason
    try {
      await this.#forwarder?.close(reason)
      await this.#writing
      await this.#log.close()
    } finally {
      this.#unlock()
    }
  }

  #refusal(bytes: number): Error | undefined {
    const { maxBytes, folder } = this.#options
    if (this.#closed !== undefined) return errorFrom(this.#closed)
    if (this.#log.bytes + this.#pendingBytes + bytes > maxBytes) {
      return new JournalFullError(
        `${folder} holds ${this.#log.bytes + this.#pendingBytes} bytes that no engine has taken yet, of at most ${maxBytes}: start the engine, or give a larger journal.maxBytes`,
      )
    }
    if (this.#pending.length < LIMITS.enqueuesHeld && this.#pendingBytes + bytes <= LIMITS.bytesHeld) return undefined
    const message = `${LIMITS.enqueuesHeld} calls or ${LIMITS.bytesHeld} bytes wait for the disk: await the calls made before, or try again in ${RETRY_AFTER_MS} ms`
    return new BusyError(message, { retryAfter: RETRY_AFTER_MS })
  }

  /** Writes the calls that came since the last sync, with one sync for each batch. */
  async #write(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#takeBatch()
      const { source, place } = batch[0] as Pending
      try {
        await this.#log.write(
          source,
          place,
          batch.map(({ entry }) => entry),
        )
        for (const pending of batch) pending.resolve(keysOf(pending))
        this.#forwarder?.wake()
      } catch (error) {
        for (const { reject } of batch) reject(error as Error)
      }
      for (const { bytes } of batch) this.#pendingBytes -= bytes
    }
    this.#writing = undefined
  }

  #takeBatch(): Pending[] {
    const { source } = this.#pending[0] as Pending
    let count = 0
    let jobs = 0
    let bytes = 0
    for (const pending of this.#pending) {
      if (pending.source !== source || jobs >= RECORD_JOBS || bytes >= RECORD_BYTES) break
      count++
      jobs += pending.entry.jobs.length
      bytes += pending.bytes
    }
    return this.#pending.splice(0, count)
  }
}

/** Returns the job with its delay counted from the call, however much later the engine gets it. */
function anchored(job: NewJob, at: number): NewJob {
  if (job.delay === undefined) return job
  const { delay, ...rest } = job
  return { ...rest, runAt: at + delay }
}

function keysOf({ source, place, entry }: Pending): Enqueued[] {
  return entry.jobs.map((_job, index) => ({
    seq: 0,
    node: sourcedNode(place + index, source.number),
    enqueuedAt: entry.at,
    created: true,
  }))
}
