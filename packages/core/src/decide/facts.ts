/**
 * What a turn knows of the disk beyond the tables: read set by set before anything is decided, and kept true while the turn
 * goes on, so that a later command sees what an earlier one did.
 */
import type { JobKey } from '../id.ts'
import type { Job } from '../job.ts'
import type { JobRow, KeyHolder } from '../store.ts'
import type { Tables } from '../tables/tables.ts'

export class Facts {
  readonly #tables: Tables
  readonly #jobs = new Map<number, Job>()
  readonly #idempotent = new Map<string, JobKey>()
  readonly #unique = new Map<string, JobKey>()
  /** Jobs found by time or by filter, for the decisions that asked for them. */
  due: readonly Job[] = []
  expired: readonly Job[] = []
  prunable: readonly Job[] = []
  failed: readonly Job[] = []

  constructor(tables: Tables) {
    this.#tables = tables
  }

  /** One record per job and turn: the tables' own where they have it. */
  remember(row: JobRow): Job {
    const known = this.job(row.seq)
    if (known !== undefined) return known
    const job = this.#tables.fromRow(row)
    this.#jobs.set(row.seq, job)
    return job
  }

  add(job: Job): void {
    this.#jobs.set(job.seq, job)
  }

  job(seq: number): Job | undefined {
    return this.#tables.jobs.get(seq) ?? this.#jobs.get(seq)
  }

  /** The job that the whole id names. */
  find(id: JobKey): Job | undefined {
    const job = this.job(id.seq)
    return job !== undefined && job.node === id.node && job.enqueuedAt === id.enqueuedAt ? job : undefined
  }

  idempotent(name: string, key: string): JobKey | undefined {
    return this.#idempotent.get(`${name}\0${key}`)
  }

  holdIdempotent(name: string, key: string, job: JobKey): void {
    this.#idempotent.set(`${name}\0${key}`, job)
  }

  /** The live job that holds the unique key. */
  unique(name: string, key: string): JobKey | undefined {
    return this.#unique.get(`${name}\0${key}`)
  }

  holdUnique(name: string, key: string, job: JobKey): void {
    this.#unique.set(`${name}\0${key}`, job)
  }

  freeUnique(name: string, key: string): void {
    this.#unique.delete(`${name}\0${key}`)
  }

  addHolders(idempotent: readonly KeyHolder[], unique: readonly KeyHolder[]): void {
    for (const holder of idempotent) this.holdIdempotent(holder.name, holder.key, holder)
    for (const holder of unique) this.holdUnique(holder.name, holder.key, holder)
  }
}
