/**
 * Who reads the events by cursor: through clients that die, freeze and are cut off, it sees each that fits once and in order, and by the
 * end all of them. Its cursor outlives the client, as that of a program which writes it down with what it has made of the event.
 */
import type { EventStreamItem } from '@millrace/client'
import type { EventsFilter } from '@millrace/core'
import type { Chance } from './chance.ts'
import type { Client } from './client.ts'
import type { History } from './history.ts'
import { type Model, type ToldEvent, whatOf } from './model.ts'
import type { Timeline } from './timeline.ts'

const FILTERS: readonly EventsFilter[] = [
  {},
  {},
  { types: ['completed', 'failed', 'cancelled'] },
  { queue: 'other' },
  { types: ['stalled'] },
  { types: ['queue.paused', 'queue.resumed', 'schedule.fired', 'worker.attached', 'worker.lost'] },
]

export interface ReadersOptions {
  readonly chance: Chance
  readonly history: History
  readonly model: Model
  readonly timeline: Timeline
}

export class Reader {
  readonly #options: ReadersOptions
  readonly #filter: EventsFilter
  #cursor = 0
  #client: Client | undefined

  constructor(options: ReadersOptions) {
    this.#options = options
    this.#filter = options.chance.pick(FILTERS)
  }

  /** Goes on through another client where its own is gone. */
  follow(client: Client): void {
    if (this.#client !== undefined && !this.#client.dead) return
    if (this.#client !== undefined) this.#options.history.meet('readerGoesOn')
    this.#client = client
    void this.#read(client)
  }

  /** Events that it has yet to be told. */
  get behind(): boolean {
    return this.#expected(this.#cursor === 0 ? this.#options.model.forgotten : this.#cursor) !== undefined
  }

  async #read(client: Client): Promise<void> {
    const { chance, history, timeline } = this.#options
    try {
      for await (const item of client.engine.events({ after: this.#cursor, filter: this.#filter })) {
        if (client.dead) return
        this.#take(client, item)
        if (chance.hits(0.1)) await new Promise<void>((resolve) => void timeline.after(chance.small(500), resolve))
        if (client.dead) return
      }
    } catch (error) {
      if (client.dead) return
      history.note(`${client.name} reads no more: ${String(error)}`)
      this.#client = undefined
    }
  }

  #take({ name }: Client, item: EventStreamItem): void {
    const { history, model } = this.#options
    if (item.type === 'gap') {
      this.#passOver(name, item.resumesAt)
      return
    }
    // Who begins with the oldest is not told that older ones are forgotten.
    const expected = this.#expected(this.#cursor === 0 ? Math.min(model.forgotten, item.seq - 1) : this.#cursor)
    const so = expected === undefined ? 'none' : `${expected.seq} ${expected.type} ${expected.what}`
    const said = `${item.seq} ${item.type} ${'run' in item ? item.jobId : whatOf(item)}`
    // A worker's session has an id of chance that no seed decides.
    history.note(`${name} reads ${'session' in item ? `${item.seq} ${item.type}` : said}`)
    history.hold(said === so, 40, () => `${name} reads ${said} behind ${this.#cursor}, and what comes next is ${so}`)
    history.meet('eventRead')
    this.#cursor = item.seq
  }

  /** What it had yet to be told is forgotten, and it is told that. */
  #passOver(name: string, resumesAt: number): void {
    const { history, model } = this.#options
    history.note(`${name} reads a gap up to ${resumesAt}`)
    const so = resumesAt - 1 > this.#cursor && resumesAt - 1 <= model.forgotten
    history.hold(so, 40, () => `${name} is told of a gap from ${this.#cursor} to ${resumesAt}, and all behind ${model.forgotten} is kept`)
    history.meet('eventsMissed')
    this.#cursor = resumesAt - 1
  }

  /** What it is to be told next, of what comes after that event. */
  #expected(after: number): ToldEvent | undefined {
    const { events } = this.#options.model
    const { types, queue } = this.#filter
    // Events are numbered from 1.
    for (let index = after; index < events.length; index++) {
      const event = events[index] as ToldEvent
      if ((types === undefined || types.includes(event.type)) && (queue === undefined || event.queue === queue)) return event
    }
    return undefined
  }
}
