/**
 * The order in which a handler gets the results of its durable calls: the same in each run of a job.
 *
 * A result is delivered only after all that had settled while it was open: those with numbers from its `asked` to its own that exist. Then
 * races end as they have ended before.
 */
import type { Data, OpenWait, StepResult } from '@millrace/core'

/** The part of a result that a handler gets, and that says when. */
export type Row = Pick<StepResult, 'number' | 'asked' | 'name' | 'kind' | 'value' | 'error'>

/** A call of an earlier run, by its name and by what that run had got before. */
export type Asked = Pick<Row, 'name' | 'asked'>

/** A wait that an earlier run has opened. */
export type ExpectedWait = Asked & Pick<OpenWait, 'message'>

export interface Entry<Call> extends Omit<Row, 'value' | 'error'> {
  value: Data
  error?: Row['error'] | undefined
  /** The call that asks for it; undefined if none does. */
  call: Call | undefined
  /** False while it is on its way to the engine: later results are not delivered before it. */
  isCommitted: boolean
  isDelivered: boolean
}

export class Order<Call> {
  readonly #byName = new Map<string, Entry<Call>>()
  /** By their numbers. */
  readonly #entries: Entry<Call>[] = []
  /** Entries that nobody had asked for when they came; the one that is due first is the last. */
  readonly #unasked: Entry<Call>[] = []
  /** Waits that earlier runs have opened, and that nobody has asked for yet. */
  readonly #expected = new Map<string, ExpectedWait>()
  /** All before this place are delivered. */
  #front = 0
  #settled = 0
  #delivered = 0

  /** The number of the last result. */
  get settled(): number {
    return this.#settled
  }

  /** The number of the last result that was delivered. */
  get delivered(): number {
    return this.#delivered
  }

  get isDelivered(): boolean {
    return this.#front === this.#entries.length
  }

  /** Adds results of earlier runs, or of waits, by their numbers. `callOf` returns the calls that ask for them already. */
  add(rows: readonly Row[], callOf: (name: string) => Call | undefined = () => undefined): void {
    for (const row of rows) {
      const entry = this.push(row, callOf(row.name), true)
      if (entry.call === undefined) this.#unasked.push(entry)
    }
    this.#unasked.sort((a, b) => b.asked - a.asked || b.number - a.number)
  }

  /** Notes waits that earlier runs have opened: results that have yet to come. */
  expect(waits: readonly ExpectedWait[]): void {
    for (const wait of waits) this.#expected.set(wait.name, wait)
  }

  /** Notes that the handler asks for a call. Returns the wait of that name which an earlier run has opened. */
  ask(name: string): ExpectedWait | undefined {
    const wait = this.#expected.get(name)
    this.#expected.delete(name)
    return wait
  }

  /** Adds the next result. */
  push({ number, asked, name, kind, value, error }: Row, call: Call | undefined, isCommitted: boolean): Entry<Call> {
    const entry: Entry<Call> = { number, asked, name, kind, value, error, call, isCommitted, isDelivered: false }
    this.#byName.set(name, entry)
    this.#entries.push(entry)
    this.#settled = number
    return entry
  }

  named(name: string): Entry<Call> | undefined {
    return this.#byName.get(name)
  }

  /** Returns the result that is delivered next: the first before which nothing is missing that had settled while it was open. */
  next(): Entry<Call> | undefined {
    let missing = 0
    for (let place = this.#front; place < this.#entries.length; place++) {
      const entry = this.#entries[place] as Entry<Call>
      if (entry.isDelivered) continue
      if (entry.call !== undefined && entry.isCommitted && missing < entry.asked) return entry
      missing = entry.number
    }
    return undefined
  }

  /** Notes that the handler has got it. */
  deliver(entry: Entry<Call>): void {
    entry.isDelivered = true
    entry.call = undefined
    entry.value = null
    this.#delivered = Math.max(this.#delivered, entry.number)
    while (this.#entries[this.#front]?.isDelivered) this.#front++
  }

  /** Returns what the handler should have asked for by now: it has got all that it had got when it asked before. */
  due(): Asked | undefined {
    const front = this.#entries[this.#front]?.number ?? Number.POSITIVE_INFINITY
    const next = this.unasked()
    return next !== undefined && front >= next.asked ? next : [...this.#expected.values()].find(({ asked }) => front >= asked)
  }

  /** Returns what an earlier run has asked for, and the handler has not. */
  missed(): Asked | undefined {
    return this.unasked() ?? this.#expected.values().next().value
  }

  /** Returns the result that nobody asks for and that is due first. */
  unasked(): Entry<Call> | undefined {
    for (let last = this.#unasked.at(-1); last !== undefined; last = this.#unasked.at(-1)) {
      if (last.call === undefined && !last.isDelivered) return last
      this.#unasked.pop()
    }
    return undefined
  }

  /** Returns a result that was asked for, and that has not been delivered. */
  asked(): Entry<Call> | undefined {
    return this.#entries.find(({ call }) => call !== undefined)
  }
}
