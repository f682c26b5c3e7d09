/** The counts by state, each with what says whether it is many. */
import type { QueuesHistory, StatsAnswer, Worker } from '../../api/answers.ts'
import { sum } from '../../chart/paths.ts'
import { change, count, rate } from '../../format/numbers.ts'
import { type STATES, TEXT } from '../../text.ts'
import { netOf } from './queueRows.ts'
import { donePerSecond } from './throughput.ts'

/** Cancelled jobs ask for nothing: they are not here. */
const SHOWN = [
  'waiting',
  'active',
  'retrying',
  'scheduled',
  'blocked',
  'failed',
  'completed',
] as const satisfies readonly (keyof typeof STATES)[]
type Shown = (typeof SHOWN)[number]

export interface StateCell {
  readonly state: Shown
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
  const { states, schedules, retrying = 0 } = stats
  const failed = history === undefined ? 0 : sum(history.total.failed)
  const slots = workers === undefined ? 0 : sum(workers.map(({ maxConcurrency }) => maxConcurrency))
  const values: Readonly<Record<Shown, number>> = { ...states, retrying, scheduled: states.scheduled - retrying }
  const notes: Readonly<Record<Shown, string>> = {
    waiting: history === undefined ? '' : overview.net(change(netOf(history.total)), period),
    active: overview.workers(stats.workers),
    retrying: overview.retrying,
    scheduled: overview.schedules(schedules.enabled + schedules.paused),
    blocked: overview.blocked,
    failed: history === undefined ? '' : overview.fresh(count(failed), period),
    completed: overview.perSecond(rate(donePerSecond(recent?.total))),
  }
  return SHOWN.map((state) => ({
    state,
    value: values[state],
    note: notes[state],
    ...(state === 'active' && slots > 0 && { of: overview.slots(slots) }),
    ...(state === 'failed' && { isBad: failed > 0 && states.failed > 0 }),
  }))
}
