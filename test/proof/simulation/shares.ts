/**
 * Queues take turns, from committed turns alone: of what serves the same, in no strict order, no more jobs of a queue are handed out in a row than its share
 * while a job of another queue waits in memory, unheld, that is served too and has room in the session each time.
 */
import type { ConsumerGroup, Tables } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Model, Tracked } from './model.ts'

interface Row {
  readonly queue: string
  readonly count: number
}

export interface HandOut {
  readonly job: Tracked
  readonly group: ConsumerGroup
  /** Of its session, before it. */
  readonly room: number
}

export class Shares {
  readonly #history: History
  readonly #model: Model
  /** What was handed out in a row up to now, past a job that waits. Other tables have other groups. */
  #rows = new Map<ConsumerGroup, Map<Tracked, Row>>()

  constructor(history: History, model: Model) {
    this.#history = history
    this.#model = model
  }

  /** After the model. What stands in a window after a turn stood there before its first hand-out, for hand-outs only take away. */
  commit(tables: Tables, wall: number): void {
    const { started } = this.#model
    if (started.length === 0 && this.#rows.size === 0) return
    const before = this.#rows
    this.#rows = new Map()
    const passedOver = passedOverBy(this.#model, tables, wall)
    if (passedOver.length === 0) return
    const handOuts = handOutsOf(this.#model, tables)
    for (const group of tables.groups.values()) {
      const rows = new Map<Tracked, Row>()
      const own = handOuts.filter((handOut) => handOut.group === group)
      for (const other of passedOver) {
        if (group.isStrict || !group.serves(other.queue, other.name)) continue
        const row = this.#goOn(other, own, this.#known(other, before.get(group)))
        if (row !== undefined) rows.set(other, row)
      }
      if (rows.size > 0) this.#rows.set(group, rows)
    }
  }

  /** Whoever has been told something, or has lined up anew, may stand behind the others since. */
  #known(other: Tracked, rows: ReadonlyMap<Tracked, Row> | undefined): Row | undefined {
    const { limits, turns } = this.#model
    const row = rows?.get(other)
    if (row === undefined || other.changedTurn === turns) return undefined
    return limits.toldNow(other.queue) || limits.toldNow(row.queue) ? undefined : row
  }

  #goOn(other: Tracked, handOuts: readonly HandOut[], known: Row | undefined): Row | undefined {
    const { limits } = this.#model
    let row = known
    for (const { job, room } of handOuts) {
      const { queue, seq } = job
      const count = queue === other.queue || other.weight > room ? 0 : 1 + (row?.queue === queue ? row.count : 0)
      row = { queue, count }
      const { share = 1 } = limits.settings(queue)
      if (count === share && share > 1) this.#history.meet('shareUsedUp')
      this.#history.hold(
        count <= share,
        24,
        () =>
          `job ${seq} is number ${count} in a row of queue ${queue}, whose share is ${share}, and job ${other.seq} of ${other.queue} waits`,
      )
    }
    return row
  }
}

/** Jobs that waited in memory, unheld, while the last turn handed out others. Where keys were not looked at, their queues were passed over. */
export function passedOverBy(model: Model, { jobs, unfinished }: Tables, wall: number): Tracked[] {
  if (unfinished) return []
  const { waiting, active, limits } = model
  return [...waiting].filter(
    (job) =>
      job.key === undefined &&
      !isLate(job, model) &&
      (job.expiresAt === 0 || job.expiresAt > wall) &&
      jobs.get(job.seq)?.windowed === true &&
      !limits.holds(job, active),
  )
}

/** The dead letter of a job that has expired between two hand-outs comes behind the first of them. */
export function isLate({ isLetter, bornTurn }: Tracked, { turns }: Model): boolean {
  return isLetter && bornTurn === turns
}

/** What the last turn has started, in order. */
export function handOutsOf({ started, active }: Model, { sessions }: Tables): HandOut[] {
  const weights = new Map<string, number>()
  for (const { session, weight } of active) weights.set(session, (weights.get(session) ?? 0) + weight)
  const handOuts: HandOut[] = []
  for (const job of started.toReversed()) {
    const session = sessions.get(job.session)
    if (session === undefined) continue
    const weight = (weights.get(job.session) ?? 0) - job.weight
    weights.set(job.session, weight)
    // Alone a job may be of any weight.
    const room = weight === 0 ? Number.POSITIVE_INFINITY : session.intro.maxConcurrency - weight
    handOuts.push({ job, group: session.group, room })
  }
  return handOuts.reverse()
}
