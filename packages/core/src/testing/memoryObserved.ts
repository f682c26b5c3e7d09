/** The history of queues, and the failures by kind, in a MemoryStore. */

import type { FailureRow } from '../kernel/records/rows.ts'
import type { Effects } from '../kernel/state/effects.ts'
import { withFailureHour } from '../kernel/state/failureHours.ts'
import { hourOf, type MinuteRow } from '../kernel/state/history.ts'
import { LIMITS } from '../limits.ts'
import type { FailuresOrder, HistoryStep } from '../observeCommands.ts'
import { type Undo, UndoMap } from './undo.ts'

interface Kind extends Omit<FailureRow, 'job' | 'message'> {
  readonly seq: number
  readonly run: number
}

interface Noted extends MinuteRow {
  readonly queueId: number
  readonly step: HistoryStep
}

export class MemoryObserved {
  readonly #undo: Undo
  #noted: readonly Noted[] = []
  readonly #kinds: Map<string, Kind>

  constructor(undo: Undo) {
    this.#undo = undo
    this.#kinds = new UndoMap(undo)
  }

  write({ minutes, failures, forgetFailuresBefore }: Effects, now: number): void {
    for (const { queue, at, before, totals } of minutes) {
      this.#note({ queueId: queue.id, step: 'minute', at, totals }, LIMITS.historyMinutesMs)
      if (hourOf(before) !== hourOf(at)) this.#note({ queueId: queue.id, step: 'hour', at: hourOf(at), totals }, LIMITS.historyHoursMs)
    }
    for (const { job, run, error, fingerprint } of failures) {
      const key = `${job.lane.id}:${fingerprint}`
      const { count, firstAt, hours } = this.#kinds.get(key) ?? { count: 0, firstAt: now, hours: [] }
      const more = { count: count + 1, lastAt: now, hours: withFailureHour(hours, now, count) }
      this.#kinds.set(key, { laneId: job.lane.id, fingerprint, error, firstAt, seq: job.seq, run, ...more })
    }
    for (const [key, { lastAt }] of this.#kinds) if (lastAt < forgetFailuresBefore) this.#kinds.delete(key)
    const oldest = [...this.#kinds].toSorted(([, a], [, b]) => b.lastAt - a.lastAt).slice(LIMITS.failureGroups)
    for (const [key] of oldest) this.#kinds.delete(key)
  }

  minutes(queueId: number, step: HistoryStep, from: number): MinuteRow[] {
    return this.#noted
      .filter((row) => row.queueId === queueId && row.step === step && row.at >= from)
      .map(({ at, totals }) => ({ at, totals }))
      .toSorted((a, b) => a.at - b.at)
  }

  lastMinutes(): { queueId: number; at: number }[] {
    const last = new Map<number, number>()
    for (const { queueId, step, at } of this.#noted) if (step === 'minute') last.set(queueId, Math.max(at, last.get(queueId) ?? 0))
    return [...last].map(([queueId, at]) => ({ queueId, at }))
  }

  failures(laneIds: readonly number[] | undefined, limit: number, order: FailuresOrder): Kind[] {
    const kinds = [...this.#kinds.values()].filter(({ laneId }) => laneIds?.includes(laneId) ?? true)
    const first = (a: Kind, b: Kind) => (order === 'count' ? b.count - a.count : 0) || b.lastAt - a.lastAt
    return kinds.toSorted(first).slice(0, limit)
  }

  /** Forgets a deleted queue. */
  forget(queueId: number, laneIds: readonly number[]): void {
    this.#setNoted(this.#noted.filter((row) => row.queueId !== queueId))
    this.forgetLanes(laneIds)
  }

  forgetLanes(laneIds: readonly number[]): void {
    for (const [key, { laneId }] of this.#kinds) if (laneIds.includes(laneId)) this.#kinds.delete(key)
  }

  #note(noted: Noted, keptMs: number): void {
    const { queueId, step, at } = noted
    const others = this.#noted.filter((row) => row.queueId !== queueId || row.step !== step)
    const own = this.#noted.filter((row) => row.queueId === queueId && row.step === step && row.at <= at && row.at >= at - keptMs)
    this.#setNoted([...others, ...own, ...(own.some((row) => row.at === at) ? [] : [noted])])
  }

  #setNoted(noted: readonly Noted[]): void {
    const before = this.#noted
    this.#undo.note(() => {
      this.#noted = before
    })
    this.#noted = noted
  }
}
