/**
 * What jobs must remember of their durable calls: one list of results for each job, from committed effects alone, and what their handlers
 * have got of it. Promises 60, 61 and 63 to 65 are held against it.
 */
import { ACTIVE, CANCELLED, FAILED, isFinal, SCHEDULED } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Model, Tracked } from './model.ts'
import type { Requests } from './requests.ts'

interface Row {
  readonly number: number
  readonly asked: number
  readonly name: string
  readonly run: number
  readonly isFailed: boolean
}

interface Page {
  readonly rows: Map<number, Row>
  /** The ends of waits by their names: they never change. */
  readonly ends: Map<string, number>
  /** What runs have got, in order, by the version of their code, and the first run that sees it. */
  got: readonly [string[], string[]]
  gotFrom: number
  /** Calls of a function by the name of its step. */
  readonly calls: Map<string, number>
  readonly keys: Map<string, string>
  /** Those of before it was retried from its start. */
  readonly spent: Set<string>
}

export interface FiledStep {
  readonly seq: number
  readonly rows: string
}

export class StepBook {
  readonly #history: History
  readonly #model: Model
  readonly #requests: Requests
  readonly #pages = new Map<number, Page>()

  constructor(history: History, model: Model, requests: Requests) {
    this.#history = history
    this.#model = model
    this.#requests = requests
  }

  /** Before the model: a result is of a run that has begun in an earlier turn, and changes what its end means. */
  commit(effects: Effects, wall: number, mono: number): void {
    for (const { seq, number, asked, name, run, kind, endedAt, value, error } of effects.steps) {
      this.#history.note(`job ${seq} run ${run} records ${number} (asked ${asked}) ${kind} ${name}`)
      const job = this.#model.jobs.get(seq)
      if (job === undefined) continue
      const page = this.#page(seq)
      if (this.#add(job, page, { number, asked, name, run, isFailed: error !== undefined })) {
        if (kind === 'message' && value !== null) page.ends.delete(name)
        else if (kind === 'sleep' || kind === 'message') this.#woken(job, page, name, endedAt)
        else this.#history.hold(job.state === ACTIVE, 60, () => `job ${seq} has a result of step ${name} in state ${job.state}`)
      }
      this.#model.anew(job, wall, mono)
    }
    for (const { seq, state } of effects.jobs) if (!isFinal(state)) this.#revived(seq, effects)
    for (const { seq, number, failed } of effects.rewinds) this.#rewind(seq, number, failed === true)
    for (const { seq, extras } of effects.jobs)
      for (const wait of extras?.steps?.waiting?.waits ?? []) this.#open(seq, wait.name, wait.until ?? Number.POSITIVE_INFINITY)
  }

  /** After the model: what is gone has left nothing. */
  forget(): void {
    for (const seq of this.#pages.keys()) if (!this.#model.jobs.has(seq)) this.#pages.delete(seq)
  }

  /** Jobs with results that have failed or were cancelled, each with the names of its results. */
  get stuck(): readonly { readonly id: string; readonly names: readonly string[] }[] {
    return [...this.#pages].flatMap(([seq, { rows }]) => {
      const job = this.#model.jobs.get(seq)
      const isStuck = (job?.state === FAILED || job?.state === CANCELLED) && rows.size > 0
      return job !== undefined && isStuck ? [{ id: job.id, names: [...rows.values()].map(({ name }) => name) }] : []
    })
  }

  isRecorded(seq: number, number: number): boolean {
    return this.#pages.get(seq)?.rows.has(number) === true
  }

  /** A function of a step is called. Returns how often it was. */
  called(seq: number, run: number, name: string, key: string): number {
    const page = this.#page(seq)
    const job = this.#model.jobs.get(seq)
    const isCurrent = job?.state === ACTIVE && job.run === run
    const again = isCurrent && [...page.rows.values()].some((row) => row.name === name)
    this.#history.hold(!again, 60, () => `run ${run} of job ${seq} calls step ${name}, whose result is recorded`)
    if (isCurrent) {
      const before = page.keys.get(name)
      this.#history.hold(!page.spent.has(key), 60, () => `step ${name} of job ${seq} has the key ${key} of before its retry from the start`)
      page.keys.set(name, key)
      this.#history.hold(before === undefined || before === key, 60, () => `step ${name} of job ${seq} has the keys ${before} and ${key}`)
    }
    const calls = (page.calls.get(name) ?? 0) + 1
    page.calls.set(name, calls)
    if (calls > 1) this.#history.meet('stepCalledAgain')
    return calls
  }

  /** A handler has got something: what it has got before in that place. */
  got(seq: number, run: number, place: number, what: string, isLater: boolean): void {
    const page = this.#page(seq)
    const trace = page.got[Number(isLater)] as string[]
    this.#history.note(`run ${run} of job ${seq} gets ${place} ${what}`)
    if (run < page.gotFrom) return
    const before = trace[place]
    if (before === undefined) trace[place] = what
    else {
      this.#history.meet('replayed')
      this.#history.hold(before === what, 61, () => `run ${run} of job ${seq} gets '${what}', and an earlier one has got '${before}' there`)
    }
  }

  /** A handler has got a message, or undefined where its time has passed. */
  received(seq: number, message: string, value: unknown): void {
    const so = value === undefined || String(value).startsWith(`${message} `)
    this.#history.hold(so, 62, () => `job ${seq} waits for '${message}', and gets '${String(value)}'`)
  }

  /** @param rows of the file: the results of each job */
  file(rows: readonly FiledStep[]): void {
    const found = new Map(rows.map(({ seq, rows: of }) => [seq, of]))
    for (const [seq, page] of this.#pages) {
      const expected = [...page.rows.values()]
        .sort((a, b) => a.number - b.number)
        .map(({ number, asked, name, run }) => `${number} ${asked} ${name} ${run}`)
        .join()
      const has = found.get(seq) ?? ''
      this.#history.hold(has === expected, 60, () => `job ${seq} has recorded ${has}, and should have ${expected}`)
      found.delete(seq)
    }
    for (const seq of found.keys()) this.#history.violate(65, `job ${seq} has left results`)
  }

  #page(seq: number): Page {
    const known = this.#pages.get(seq)
    if (known !== undefined) return known
    const page: Page = { rows: new Map(), ends: new Map(), got: [[], []], gotFrom: 0, calls: new Map(), keys: new Map(), spent: new Set() }
    this.#pages.set(seq, page)
    return page
  }

  /** Returns false for a result that was recorded before. */
  #add(job: Tracked, { rows }: Page, row: Row): boolean {
    const { seq } = job
    const { number, name, run } = row
    const before = rows.get(number)
    const so = run === job.run && (job.state === ACTIVE || job.state === SCHEDULED)
    this.#history.hold(so, 60, () => `run ${run} of job ${seq} records ${name}, and its run is ${job.run} in state ${job.state}`)
    if (before !== undefined) {
      const same = before.name === name && before.run === run
      this.#history.hold(same, 60, () => `job ${seq} records ${name} as its result ${number}, which is that of ${before.name}`)
      return false
    }
    const twice = [...rows.values()].some((each) => each.name === name)
    this.#history.hold(!twice, 60, () => `job ${seq} records ${name} twice`)
    rows.set(number, row)
    this.#history.meet('stepRecorded')
    return true
  }

  #woken(job: Tracked, page: Page, name: string, endedAt: number): void {
    const end = page.ends.get(name)
    page.ends.delete(name)
    // One that is over as it is asked for is in no row of waits.
    if (end === undefined) return
    this.#history.meet('slept')
    this.#history.hold(end !== Number.POSITIVE_INFINITY, 63, () => `${name} of job ${job.seq} has no end, and ends without a message`)
    const early = end - endedAt
    const asked = early > 0 && this.#requests.asked('runNow', job)
    this.#history.hold(early <= 0 || asked, 63, () => `${name} of job ${job.seq} ends ${early} ms early`)
  }

  #open(seq: number, name: string, until: number): void {
    const { ends } = this.#page(seq)
    const before = ends.get(name)
    ends.set(name, until)
    this.#history.hold(
      before === undefined || before === until,
      63,
      () => `the wait ${name} of job ${seq} ends ${until - (before ?? 0)} ms later`,
    )
  }

  /** A job that comes back does so at a step that has failed, if there is one: as it was, it would fail again. */
  #revived(seq: number, { rewinds }: Effects): void {
    const state = this.#model.jobs.get(seq)?.state
    if (state !== FAILED && state !== CANCELLED) return
    const failed = [...(this.#pages.get(seq)?.rows.values() ?? [])].find(({ isFailed }) => isFailed)
    const so = failed === undefined || rewinds.some((each) => each.seq === seq)
    this.#history.hold(so, 60, () => `job ${seq} comes back, and its step ${failed?.name} has failed`)
  }

  #rewind(seq: number, number: number, failed: boolean): void {
    const job = this.#model.jobs.get(seq)
    const page = this.#pages.get(seq)
    if (job === undefined || page === undefined) return
    this.#history.meet(number === 0 ? 'retriedFromStart' : 'retriedFromStep')
    for (const row of page.rows.values())
      if (row.number === number || row.asked > number || (failed && row.isFailed)) page.rows.delete(row.number)
    page.ends.clear()
    page.got = [[], []]
    page.gotFrom = job.run + 1
    // From the start on each key is another one.
    if (number === 0) for (const key of page.keys.values()) page.spent.add(key)
    page.keys.clear()
    const asked =
      this.#requests.asked('retry', job) || this.#requests.askedTree('retryTree', job.id) || this.#requests.redriven || isFinal(job.state)
    this.#history.hold(asked, 60, () => `results of job ${seq} are forgotten, and nobody has retried it`)
  }
}
