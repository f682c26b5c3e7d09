/** The counts by state, each with what says whether it is many. */
import type { QueuesHistory, StatsAnswer, Worker } from '../../api/answers.ts'
import { sum } from '../../chart/paths.ts'
import { change, count, rate } from '../../format/numbers.ts'
import { STATES, TEXT } from '../../text.ts'
import { netOf } from './queueRows.ts'
import { donePerSecond } from './throughput.ts'

export interface StateCell {
  readonly state: keyof typeof STATES
  readonly value: number
  /** Behind the value: " / 48 slots". */
  readonly of?: string
  readonly note: string
  readonly isBad?: boolean
}

interface Seen {
  readonly stats: StatsAnswer
  readonly workers: readonly Worker[] | undefined
  readonly history: QueuesHistory | undefined
  readonly recent: QueuesHistory | undefined
  /** The period in words: "1 h". */
  readonly period: string
}

const { overview } = TEXT

export function stripOf({ stats, workers, history, recent, period }: Seen): readonly StateCell[] {
  const { states, schedules } = stats
  const failed = history === undefined ? 0 : sum(history.total.failed)
  const slots = workers === undefined ? undefined : sum(workers.map(({ maxConcurrency }) => maxConcurrency))
  const notes: Readonly<Record<keyof typeof STATES, string>> = {
    waiting: history === undefined ? '' : overview.net(change(netOf(history.total)), period),
    active: overview.workers(stats.workers),
    scheduled: overview.schedules(schedules.enabled + schedules.paused),
    blocked: overview.blocked,
    failed: history === undefined ? '' : overview.fresh(count(failed), period),
    completed: overview.perSecond(rate(donePerSecond(recent?.total))),
    cancelled: history === undefined ? '' : overview.fresh(count(sum(history.total.cancelled)), period),
  }
  return (Object.keys(STATES) as (keyof typeof STATES)[]).map((state) => ({
    state,
    value: states[state],
    note: notes[state],
    ...(state === 'active' && slots !== undefined && slots > 0 && { of: overview.slots(count(slots)) }),
    ...(state === 'failed' && { isBad: failed > 0 }),
  }))
}
