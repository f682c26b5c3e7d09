/** What jobs must keep and get of their messages, from committed effects alone: promise 62 is held against it. */
import { ACTIVE, type Data, isFinal, SCHEDULED } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import { opened } from './codec.ts'
import type { History } from './history.ts'
import type { Model } from './model.ts'

interface Kept {
  readonly number: number
  readonly name: string
  readonly value: string
}

/** Messages that a job waits for, each once for each of its waits. */
export interface Awaiting {
  readonly id: string
  readonly names: readonly string[]
}

export interface FiledMessages {
  readonly seq: number
  readonly rows: string
}

/** The value of a message: its name, and a number that no other has. */
export function messageOf(name: string, number: number): string {
  return `${name} ${number}`
}

/** The value of a message as it was sent. */
export function messageIn(value: Data): string {
  return JSON.parse(opened(value ?? '')) as string
}

export class MessageBook {
  readonly #history: History
  readonly #model: Model
  readonly #kept = new Map<number, Kept[]>()
  /** The values of all messages that were ever stored. */
  readonly #stored = new Map<number, Set<string>>()
  readonly #awaiting = new Map<number, readonly string[]>()

  constructor(history: History, model: Model) {
    this.#history = history
    this.#model = model
  }

  /** Jobs that have yet to end and wait for messages. */
  get awaiting(): readonly Awaiting[] {
    return [...this.#awaiting].flatMap(([seq, names]) => {
      const job = this.#model.jobs.get(seq)
      return job === undefined || isFinal(job.state) ? [] : [{ id: job.id, names }]
    })
  }

  /** Before the model. */
  commit(effects: Effects): void {
    const taken = new Map<number, string[]>()
    for (const { seq, number } of effects.taken) {
      const kept = this.#kept.get(seq) ?? []
      const place = kept.findIndex((each) => each.number === number)
      const message = kept[place]
      this.#history.hold(message !== undefined, 62, () => `job ${seq} takes the message ${number}, which it does not keep`)
      if (message === undefined) continue
      const earlier = kept.slice(0, place).find(({ name }) => name === message.name)
      this.#history.hold(earlier === undefined, 62, () => `job ${seq} takes '${message.value}' before '${earlier?.value}'`)
      kept.splice(place, 1)
      taken.set(seq, [...(taken.get(seq) ?? []), message.value])
    }
    for (const { seq, kind, name, value } of effects.steps)
      if (kind === 'message' && value !== null) this.#got(seq, name, messageIn(value), taken.get(seq) ?? [])
    for (const { seq, number, name, value } of effects.messages) {
      const text = messageIn(value)
      this.#store(seq, text)
      this.#kept.set(seq, [...(this.#kept.get(seq) ?? []), { number, name, value: text }])
      this.#history.meet('messageKept')
    }
    for (const [seq, values] of taken)
      this.#history.hold(values.length === 0, 62, () => `job ${seq} takes '${values}', and no wait has got it`)
    for (const { seq, extras, state, run } of effects.jobs) {
      const count = extras?.kept?.count ?? 0
      const kept = this.#kept.get(seq)?.length ?? 0
      this.#history.hold(count === kept, 62, () => `job ${seq} counts ${count} kept messages, and keeps ${kept}`)
      const { waiting } = extras?.steps ?? {}
      const isOpen = waiting !== undefined && (state === ACTIVE || (state === SCHEDULED && waiting.run === run))
      const names = isOpen ? waiting.waits.flatMap(({ message }) => (message === undefined ? [] : [message])) : []
      if (names.length > 0) this.#awaiting.set(seq, names)
      else this.#awaiting.delete(seq)
    }
  }

  /** After the model: what is gone has left nothing. */
  forget(): void {
    for (const each of [this.#kept, this.#stored, this.#awaiting])
      for (const seq of each.keys()) if (!this.#model.jobs.has(seq)) each.delete(seq)
  }

  /** True if the message was stored for that job. */
  has(seq: number, value: string): boolean {
    return this.#stored.get(seq)?.has(value) === true
  }

  /** @param rows of the file: the kept messages of each job */
  file(rows: readonly FiledMessages[]): void {
    const found = new Map(rows.map(({ seq, rows: of }) => [seq, of]))
    for (const [seq, kept] of this.#kept) {
      const expected = kept.map(({ number, name }) => `${number} ${name}`).join()
      const has = found.get(seq) ?? ''
      this.#history.hold(has === expected, 62, () => `job ${seq} keeps ${has}, and should keep ${expected}`)
      found.delete(seq)
    }
    for (const seq of found.keys()) this.#history.violate(65, `job ${seq} has left messages`)
  }

  /** A wait gets a message: one that is taken, or one that comes in this turn. */
  #got(seq: number, wait: string, value: string, taken: string[]): void {
    this.#history.note(`job ${seq} gets '${value}' in ${wait}`)
    this.#history.meet('messageTaken')
    const place = taken.indexOf(value)
    if (place >= 0) {
      taken.splice(place, 1)
      return
    }
    this.#store(seq, value)
    const [name] = value.split(' ')
    const earlier = this.#kept.get(seq)?.find((each) => each.name === name)
    this.#history.hold(earlier === undefined, 62, () => `job ${seq} gets '${value}' before '${earlier?.value}'`)
  }

  #store(seq: number, value: string): void {
    const all = this.#stored.get(seq) ?? new Set()
    this.#history.hold(!all.has(value), 62, () => `job ${seq} has the message '${value}' twice`)
    this.#stored.set(seq, all.add(value))
  }
}
