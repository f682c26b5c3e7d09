/**
 * Records how long jobs wait and run, by lane, after each commit, from what the turn has decided. The timings belong to
 * this engine's life and not to the file: a turn that fails leaves nothing here, and a restart begins from zero.
 */
import { type FailingName, LIMITS, type NameDetail, type NameStats, type Percentiles } from '@millrace/core'
import type { Effects, Lane } from '@millrace/core/kernel'
import { Histogram } from './histogram.ts'
import { Recent } from './recent.ts'

/** The timings of a name. They hold no lane: a lane leads to all that its tables held, which a reload has thrown away. */
interface Entry {
  queue: string
  name: string
  /** True if noted again since it was last passed over for removal: a job that runs once pushes out none that runs often. */
  used: boolean
  started: number
  completed: number
  failed: number
  interrupted: number
  readonly wait: Histogram
  readonly run: Histogram
  readonly recent: Recent
}

export class Timings {
  readonly #max: number
  /** Entries by the lane's id, which a reload keeps. */
  readonly #entries = new Map<number, Entry>()

  constructor(max: number = LIMITS.namesTimed) {
    this.#max = max
  }

  note({ events, interrupted, lanesGone, queuesGone }: Effects, wall: number): void {
    let entry: Entry | undefined
    let lane: Lane | undefined
    for (const note of events) {
      if (note.job === undefined) continue
      const { type, job, attempt } = note
      // A job that expired, or did not run because of another, has used no attempt.
      const ended = type === 'completed' || type === 'retrying' || (type === 'failed' && attempt > 0)
      if (!ended && type !== 'started') continue
      if (entry === undefined || lane !== job.lane) {
        lane = job.lane
        entry = this.#entryOf(lane)
      }
      if (type === 'started') {
        entry.started++
        entry.wait.add(wall - job.runAt)
      } else {
        if (type === 'completed') entry.completed++
        else entry.failed++
        entry.run.add(wall - job.startedAt)
        if (type === 'failed') entry.recent.note('failed', wall, job.policy.keep)
        else entry.recent.note(type === 'retrying' ? 'retried' : type, wall)
      }
    }
    for (const each of interrupted) this.#entryOf(each).interrupted++
    // If the name comes back, it has another lane: two entries would report it twice.
    for (const { id } of lanesGone) this.#entries.delete(id)
    for (const { lanes } of queuesGone) for (const { id } of lanes.values()) this.#entries.delete(id)
  }

  /** Returns the timings, the busiest first. */
  stats(): NameStats[]
  stats(detail: NameDetail | undefined): NameStats<Percentiles>[]
  stats(detail: NameDetail = 'histograms'): NameStats<Percentiles>[] {
    if (detail === 'none') return []
    const timingOf = (histogram: Histogram) => (detail === 'histograms' ? histogram.timing() : histogram.percentiles())
    return [...this.#entries.values()]
      .sort((a, b) => b.started - a.started)
      .map(({ queue, name, started, completed, failed, interrupted, wait, run }) => ({
        queue,
        name,
        started,
        completed,
        failed,
        interrupted,
        waitMs: timingOf(wait),
        runMs: timingOf(run),
      }))
  }

  /** Returns the names that fail, by the ids of their lanes, with their recent runs. */
  *failing(wall: number): Iterable<[lane: number, name: FailingName, recent: Recent]> {
    for (const [id, { queue, name, recent }] of this.#entries) {
      const counts = recent.failing(wall)
      if (counts !== undefined) yield [id, { queue, name, ...counts }, recent]
    }
  }

  #entryOf(lane: Lane): Entry {
    let entry = this.#entries.get(lane.id)
    if (entry !== undefined) entry.used = true
    else {
      entry = this.#entries.size < this.#max ? newEntry() : this.#reuse()
      this.#entries.set(lane.id, entry)
    }
    entry.queue = lane.queue.name
    entry.name = lane.name
    return entry
  }

  /**
   * Reuses the entry of a name that had nothing to note since it was last looked at, in a round through all: each look is
   * paid for by a note.
   */
  #reuse(): Entry {
    for (const [id, entry] of this.#entries) {
      this.#entries.delete(id)
      if (!entry.used) {
        entry.wait.clear()
        entry.run.clear()
        entry.recent.clear()
        return Object.assign(entry, { started: 0, completed: 0, failed: 0, interrupted: 0 })
      }
      entry.used = false
      this.#entries.set(id, entry)
    }
    return newEntry()
  }
}

function newEntry(): Entry {
  const times = { wait: new Histogram(), run: new Histogram(), recent: new Recent() }
  return { queue: '', name: '', used: false, started: 0, completed: 0, failed: 0, interrupted: 0, ...times }
}
