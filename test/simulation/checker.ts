/** What must hold of what clients were told and of what handlers did; and the history that a seed makes. */
import { createHash } from 'node:crypto'

export class Violation extends Error {}

/** What is known of a job from the outside. */
interface Known {
  readonly number: number
  /** Runs that have started, in order. */
  readonly runs: number[]
  completed: boolean
  /** Told to be cancelled, and not brought back since. */
  cancelled: boolean
  deleted: boolean
  /** Somebody has asked for it to run again: what was final may be so no more. */
  revived: boolean
}

interface Live {
  readonly run: number
  readonly fenced: () => boolean
}

export interface Row {
  readonly id: string
  readonly number: number
  readonly state: string
  readonly run: number
  readonly attempt: number
  readonly maxAttempts: number
}

export class Checker {
  readonly known = new Map<string, Known>()
  /** By number: a new job whose call was refused for certain. */
  readonly refused = new Set<number>()
  readonly unknown = new Set<number>()
  readonly deletedUnknown = new Set<string>()
  readonly #live = new Map<string, Live>()
  readonly #digest = createHash('sha256')
  readonly #keep: string[] | undefined
  readonly violations: string[] = []
  grants = 0
  open = 0

  constructor(keepHistory: boolean) {
    this.#keep = keepHistory ? [] : undefined
  }

  get history(): readonly string[] {
    return this.#keep ?? []
  }

  get hash(): string {
    return this.#digest.copy().digest('hex')
  }

  note(mono: number, ...facts: readonly (string | number)[]): void {
    const line = `${mono.toFixed(3)} ${facts.join(' ')}`
    this.#digest.update(`${line}\n`)
    this.#keep?.push(line)
  }

  fail(invariant: number | string, message: string): void {
    this.violations.push(`invariant ${invariant}: ${message}`)
  }

  enqueued(id: string, number: number): void {
    if (this.known.has(id)) return
    this.known.set(id, { number, runs: [], completed: false, cancelled: false, deleted: false, revived: false })
  }

  /** A handler begins. `strict`: nothing in this world lets an earlier run of the job go on unheard of. */
  started(id: string, run: number, attempt: number, maxAttempts: number, fenced: () => boolean, strict: boolean): void {
    this.grants++
    const known = this.known.get(id)
    if (attempt > maxAttempts) this.fail(11, `job ${id} is at attempt ${attempt} of ${maxAttempts}`)
    // A process that was frozen begins what it was handed before, and hears only then that it has lost it: fenced, it changes nothing.
    if (known !== undefined && strict) {
      if (known.completed && !known.revived) this.fail(2, `job ${id} runs again (run ${run}) after its completion was told`)
      if (known.cancelled) this.fail(2, `job ${id} runs (run ${run}) after its cancel was acknowledged`)
      const last = known.runs.at(-1)
      if (last !== undefined && run <= last) this.fail(10, `run ${run} of job ${id} comes after run ${last}`)
      known.runs.push(run)
    }
    const other = this.#live.get(id)
    if (other !== undefined && strict && !other.fenced()) this.fail(9, `job ${id} runs twice at a time: runs ${other.run} and ${run}`)
    this.#live.set(id, { run, fenced })
  }

  ended(id: string, run: number): void {
    if (this.#live.get(id)?.run === run) this.#live.delete(id)
  }

  /** The rows of the file at the end, when everything is healed and quiet. */
  atEnd(
    rows: readonly Row[],
    { faultFree, keys, sure }: { faultFree: boolean; keys: ReadonlyMap<number, string>; sure: ReadonlySet<number> },
  ): void {
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const [id, known] of this.known) {
      const row = byId.get(id)
      if (row === undefined) {
        if (!known.deleted && !this.deletedUnknown.has(id)) this.fail(1, `job ${id}, whose enqueue was acknowledged, is not there`)
        continue
      }
      if (known.deleted) this.fail(2, `job ${id} is there after its deletion was acknowledged`)
      if (known.completed && !known.revived && row.state !== 'completed') this.fail(2, `job ${id} completed, and is ${row.state}`)
      if (known.cancelled && row.state !== 'cancelled') this.fail(2, `job ${id} was cancelled, and is ${row.state}`)
    }
    const numbers = new Map<number, string>()
    const byKey = new Map<string, string>()
    for (const { id, number, state, attempt, maxAttempts } of rows) {
      if (this.refused.has(number)) this.fail(6, `job ${id} is there, though its enqueue was refused`)
      const twin = numbers.get(number)
      const key = keys.get(number)
      if (twin !== undefined) this.fail(25, `jobs ${twin} and ${id} are of one call`)
      numbers.set(number, id)
      if (key !== undefined) {
        const other = byKey.get(key)
        if (other !== undefined) this.fail(25, `jobs ${other} and ${id} have the idempotency key ${key}`)
        byKey.set(key, id)
      }
      if (attempt > maxAttempts) this.fail(11, `job ${id} has had attempt ${attempt} of ${maxAttempts}`)
      if (!['completed', 'failed', 'cancelled'].includes(state)) this.fail(20, `job ${id} is ${state} in a healed world`)
      if (faultFree && sure.has(number) && state === 'completed' && attempt !== 1)
        this.fail('attempts', `job ${id} took ${attempt} attempts in a world without faults`)
    }
    if (this.open > 0) this.fail(4, `${this.open} calls were never answered`)
  }
}
