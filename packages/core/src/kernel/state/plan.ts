/**
 * Collects what a turn reads. Features add their questions; `run` asks the store all of them at once, and then those that the answers led
 * to. A turn of plain jobs asks nothing, most others ask once.
 */
import type { Now } from '../../clock.ts'
import type { JobKey } from '../../id.ts'
import type { HeldKey } from '../../keyCommands.ts'
import { LIMITS } from '../../limits.ts'
import { exclusiveKey } from '../records/exclusiveKey.ts'
import type { Job } from '../records/job.ts'
import type { NameAndKey } from '../records/rows.ts'
import type { Facts } from './facts.ts'
import type { Question, TurnReads, TurnStore } from './store.ts'

type Kind = keyof TurnReads
type Take = (answer: never) => void

export class Plan {
  readonly #facts: Facts
  readonly #now: Now
  #questions: Question[] = []
  #takes: Take[] = []
  // Kinds that many commands have a part in: one set for all of them.
  #revivable: number[] = []
  #jobs: number[] = []
  #sourced: number[] = []
  #taken: number[] = []
  #unique: NameAndKey[] = []
  #idempotent: NameAndKey[] = []
  /** Keys whose jobs are read, too, whatever becomes of them. */
  #withJobs: Set<string> | undefined
  #dependencies: number[] = []
  #sources: string[] = []
  #from: Set<string> | undefined
  /** The ids of the schedules that commands name. */
  readonly schedules: string[] = []

  constructor(facts: Facts, now: Now) {
    this.#facts = facts
    this.#now = now
  }

  /** Adds a question. `take` receives the answer, and may add further ones. */
  ask<K extends Kind>(kind: K, args: Parameters<TurnReads[K]>, take: (answer: ReturnType<TurnReads[K]>) => void): void {
    this.#questions.push({ kind, args } as unknown as Question)
    this.#takes.push(take as Take)
  }

  /** Asks for a job that a command may bring back to life. */
  revivable(seq: number): void {
    const known = this.#facts.job(seq)
    if (known === undefined) this.#revivable.push(seq)
    else this.mayRevive(known)
  }

  /** Asks for what a job needs if it comes back to life: it takes its key again, and waits again for its parents. */
  mayRevive(job: Job): void {
    // A job in memory may leave it (when a window is cut) before the turn comes to the command.
    this.#facts.add(job)
    const { seq, extras } = job
    this.takesBack(job)
    if (extras?.flow !== undefined && extras.flow.parents > 0) this.#dependencies.push(seq)
  }

  /** Asks for the holder of the key that a job takes again as it comes back, and for the steps at which it may resume. */
  takesBack(job: Job): void {
    const held = exclusiveKey(job)
    if (held !== undefined) this.#unique.push(held)
    if (job.extras?.steps === undefined) return
    this.#step(job.seq)
    for (const name of this.#from ?? []) this.#step(job.seq, name)
  }

  /** Notes that a job of this turn may resume at its result of that name. Comes before the job, which is known by its row alone. */
  from(name: string): void {
    this.#from ??= new Set()
    this.#from.add(name)
  }

  /** Asks for the first failed step of a job, or for the result of that name. */
  #step(seq: number, name?: string): void {
    this.ask('step', [seq, name], (mark) => {
      if (mark !== undefined) this.#facts.setStep(seq, name, mark)
    })
  }

  /** Asks for the results of a job behind a number. */
  results({ seq }: Pick<Job, 'seq'>, after: number): void {
    this.ask('steps', [seq, after, LIMITS.waitsPerJob, LIMITS.stepsBytes], ({ results }) => this.#facts.setResults(seq, results))
  }

  /** Asks for the oldest messages of that name which a job keeps. */
  messages({ seq }: Pick<Job, 'seq'>, name: string, limit: number): void {
    this.ask('messages', [seq, name, limit, LIMITS.messagesBytes], (messages) => this.#facts.setMessages(seq, name, messages))
  }

  /** Asks for a job as it is. */
  job(seq: number): void {
    const known = this.#facts.job(seq)
    if (known === undefined) this.#jobs.push(seq)
    else this.#facts.add(known)
  }

  /** Asks for a job of a producer's journal, by its `node`. */
  sourced(node: number): void {
    this.#sourced.push(node)
  }

  /** Asks whether a job has this `node`, which a producer says for a new one. */
  taken(node: number): void {
    this.#taken.push(node)
  }

  /** Asks how far a producer's journal has come. */
  source(name: string): void {
    this.#sources.push(name)
  }

  /** Asks who holds a unique key. */
  unique(key: NameAndKey): void {
    this.#unique.push(key)
  }

  /** Asks for the job that a key stands for, which a command may change or bring back to life. `known` receives its id. */
  holder({ kind, name, key }: HeldKey, known: (holder: JobKey) => void = () => {}): void {
    if (kind === 'unique')
      this.ask('unique', [[{ name, key }]], ([holder]) => {
        if (holder === undefined) return
        this.#facts.holdUnique(name, key, holder)
        this.revivable(holder.seq)
        known(holder)
      })
    else
      this.ask('idempotent', [[{ name, key }], this.#now.wall], ([holder]) => {
        if (holder === undefined) return
        this.#facts.holdIdempotent(name, key, holder)
        this.revivable(holder.seq)
        known(holder)
      })
  }

  /** Asks who holds an idempotency key. `withJob`: asks for that job as well. */
  idempotent(key: NameAndKey, withJob = false): void {
    this.#idempotent.push(key)
    if (!withJob) return
    this.#withJobs ??= new Set()
    this.#withJobs.add(textOf(key))
  }

  run(store: TurnStore): void {
    this.#askForSets()
    while (this.#questions.length > 0) {
      const takes = this.#takes
      const answers = store.read(this.#questions)
      this.#questions = []
      this.#takes = []
      for (const [index, take] of takes.entries()) take(answers[index] as never)
      this.#askForSets()
    }
  }

  #askForSets(): void {
    const facts = this.#facts
    if (this.#revivable.length > 0)
      this.ask('jobs', [drain(this.#revivable)], (rows) => {
        for (const row of rows) this.mayRevive(facts.remember(row))
      })
    if (this.#sourced.length > 0)
      this.ask('sourced', [drain(this.#sourced)], (rows) => {
        for (const row of rows) this.mayRevive(facts.rememberSourced(row))
      })
    if (this.#taken.length > 0)
      // No payload is read: a producer may say the ids of many jobs.
      this.ask('sourced', [drain(this.#taken), 0], (rows) => {
        for (const row of rows) facts.take(row)
      })
    if (this.#jobs.length > 0)
      this.ask('jobs', [drain(this.#jobs)], (rows) => {
        for (const row of rows) facts.add(facts.remember(row))
      })
    if (this.#dependencies.length > 0)
      this.ask('dependencies', [drain(this.#dependencies)], (counters) => {
        for (const counter of counters) facts.addDependencies(counter)
      })
    if (this.#sources.length > 0)
      this.ask('offsets', [drain(this.#sources)], (offsets) => {
        for (const { source, offset } of offsets) facts.setOffset(source, offset)
      })
    if (this.#unique.length > 0)
      this.ask('unique', [drain(this.#unique)], (holders) => {
        for (const holder of holders) {
          facts.holdUnique(holder.name, holder.key, holder)
          this.job(holder.seq)
        }
      })
    if (this.#idempotent.length > 0)
      this.ask('idempotent', [drain(this.#idempotent), this.#now.wall], (holders) => {
        for (const holder of holders) {
          facts.holdIdempotent(holder.name, holder.key, holder)
          if (holder.until === holder.seq || this.#withJobs?.has(textOf(holder)) === true) this.job(holder.seq)
        }
      })
  }
}

function textOf({ name, key }: NameAndKey): string {
  return `${name}\0${key}`
}

/** Empties a set that was collected as a list, and returns its distinct elements. */
function drain<T>(collected: T[]): T[] {
  return [...new Set(collected.splice(0))]
}
