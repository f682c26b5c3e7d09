/**
 * A group is the set of job names that a worker serves, in every queue or in some. Sessions that serve the same share one
 * group, so that a thousand equal workers cost one look at the lanes. It knows which of its lanes have jobs, and which sessions
 * have room.
 */
import type { SessionIntro } from '../../commands.ts'
import type { Lane, Queue } from './lane.ts'
import { ReadyLanes } from './readyLanes.ts'
import { ServedQueues } from './servedQueues.ts'
import type { Session } from './session.ts'

/** The part of a session that decides which jobs it serves. */
type Served = Pick<SessionIntro, 'handlers' | 'queues' | 'order'>

/** Lanes with jobs in their windows, by queue that may start jobs. The first queue is next. Empty lanes are removed when they are met. */
export type Tier = Map<Queue, ReadyLanes>

export class ConsumerGroup {
  readonly key: string
  readonly names: ReadonlySet<string>
  readonly sessions = new Set<Session>()
  readonly lanes = new Set<Lane>()
  /** Sessions to fill, in fair order: the first is next. */
  readonly underfilled = new Set<Session>()
  /** One tier for all queues, which take turns; or, if their order is strict, one for each name or prefix, the first of which goes first. */
  readonly tiers: readonly Tier[]
  /** True if jobs of a later queue wait for those of an earlier one. */
  readonly isStrict: boolean
  /** The queues that it serves; undefined for every queue. */
  readonly #queues: ServedQueues | undefined
  /** The lanes of all queues, so that a queue that is suspended and resumed is not rebuilt. */
  readonly #lanes = new Map<Queue, ReadyLanes>()
  /** The queue that was served last, and how often in a row. Each group has its own turns, or another one would end them. */
  #served: Queue | undefined
  #inARow = 0

  constructor(key: string, { handlers, queues, order }: Served) {
    this.key = key
    this.names = new Set(handlers.map(({ name }) => name))
    this.#queues = queues && new ServedQueues(queues)
    this.isStrict = order === 'strict' && queues !== undefined
    this.tiers = Array.from({ length: this.isStrict ? (queues?.length ?? 1) : 1 }, () => new Map())
  }

  /** Returns a string that is the same for sessions that serve the same. */
  static keyOf({ handlers, queues, order }: Served): string {
    const names = handlers.map(({ name }) => name).sort()
    if (queues === undefined) return JSON.stringify([names])
    return JSON.stringify(order === 'strict' ? [names, queues, order] : [names, [...queues].sort()])
  }

  /** True if no queue has a job to start. */
  get isIdle(): boolean {
    for (const tier of this.tiers) if (tier.size > 0) return false
    return true
  }

  /** Returns the tier of a queue that it serves. */
  tierOf(queue: Queue): Tier {
    const place = this.isStrict ? this.placeOf(queue.name) : 0
    return this.tiers[place ?? 0] as Tier
  }

  serves(queue: string, name: string): boolean {
    return this.names.has(name) && this.placeOf(queue) !== undefined
  }

  /** Returns the place of a queue among those that it names; undefined if it does not serve it. */
  placeOf(queue: string): number | undefined {
    return this.#queues === undefined ? 0 : this.#queues.placeOf(queue)
  }

  markReady(lane: Lane): void {
    const { queue, paused } = lane
    if (paused) return
    let lanes = this.#lanes.get(queue)
    if (lanes === undefined) {
      lanes = new ReadyLanes()
      this.#lanes.set(queue, lanes)
    }
    lanes.add(lane)
    if (queue.suspended) return
    const tier = this.tierOf(queue)
    if (!tier.has(queue)) tier.set(queue, lanes)
  }

  /** Hides a queue that may start no jobs for now, or whose lanes have none. */
  suspend(queue: Queue): void {
    this.tierOf(queue).delete(queue)
  }

  /** Opens a queue that may start jobs again. */
  resume(queue: Queue): void {
    const lanes = this.#lanes.get(queue)
    if (lanes?.first() !== undefined) this.tierOf(queue).set(queue, lanes)
  }

  /** Reorders a queue's names when they start or stop taking turns. */
  reorder(queue: Queue): void {
    this.#lanes.get(queue)?.reorder()
  }

  /** Forgets a queue that was deleted. */
  forget(queue: Queue): void {
    this.suspend(queue)
    this.#lanes.delete(queue)
  }

  /** Moves the queue that was just served to the end of its tier of several, once it has had its share. */
  rotate(tier: Tier, queue: Queue, lanes: ReadyLanes): void {
    if (this.#served !== queue) this.#inARow = 0
    this.#served = queue
    if (++this.#inARow < (queue.settings.share ?? 1)) return
    this.#inARow = 0
    tier.delete(queue)
    tier.set(queue, lanes)
  }
}
