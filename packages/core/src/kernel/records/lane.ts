/** A lane is a job name within a queue. Its waiting jobs stand in line. */
import { ACTIVE, BLOCKED, SCHEDULED, STATES, type StateCode, WAITING } from '../../lifecycle.ts'
import { NO_SETTINGS, type QueueSettings } from '../../queueSettings.ts'
import type { StateCounts } from '../../stats.ts'
import type { ConsumerGroup } from './consumerGroup.ts'
import type { Key } from './keyBacklog.ts'
import { Window } from './window.ts'

export type Counts = [number, number, number, number, number, number, number]

export interface LaneTotals {
  enqueued: number
  completed: number
  failed: number
  cancelled: number
}

export interface Sums {
  readonly counts: Counts
  readonly totals: LaneTotals
  /** The number of scheduled jobs that wait for another attempt. */
  retrying: number
}

/** The queues that share a limit. */
export interface Sharing {
  readonly queues: Set<Queue>
  /** The jobs that run in all of them. */
  active: number
  /** Queues that were suspended because of it: the first one has waited longest. */
  waiting: Set<Queue>
}

/** A queue as the tables hold it. Its counters are the sums of its lanes' counters. */
export interface Queue {
  readonly id: number
  readonly name: string
  readonly counts: Counts
  readonly totals: LaneTotals
  retrying: number
  /** The number of finished jobs that have a `keep` of their own, by state code. */
  readonly kept: Counts
  /** The sums of all queues together. */
  readonly all: Sums
  readonly lanes: Map<string, Lane>
  /** The last minute for which its totals were noted; 0 for none. */
  minuteAt: number
  settings: QueueSettings
  paused: boolean
  /** True if none of its jobs may start until something reopens it: a pause, a limit or a rate holds it. */
  suspended: boolean
  /** The time when its token bucket is full again; monotonic. */
  fullMono: number
  /** The queues that share its limit, and what runs in them; undefined if it shares none. */
  sharing: Sharing | undefined
  /** Keys by their `text`; undefined if no key was ever limited or paused. */
  keys: Map<string, Key> | undefined
  /** The number of hand-outs that its job names had in turn; 0 while they take no turns. */
  turns: number
  /** True if this turn has changed its settings, or its bucket. */
  noted: boolean
  /** True if it takes no new jobs and all of its jobs have ended, and this has been reported. */
  drained: boolean
  /** True if it reports that it has no live job, and has none. */
  emptied: boolean
  /** True if it was deleted. Another queue may have its name by now. */
  gone: boolean
}

export interface Lane {
  readonly id: number
  readonly queue: Queue
  readonly name: string
  /** The number of rows in each state, by state code. */
  readonly counts: Counts
  readonly totals: LaneTotals
  retrying: number
  readonly window: Window
  /** The attached groups that serve this lane. Without one its window stays empty. */
  readonly groups: ConsumerGroup[]
  /** A heavy job that has left memory, and since when lighter ones have passed it: its patience continues. */
  passed: { readonly seq: number; readonly mono: number } | undefined
  /** True if this turn has changed the counters. */
  counted: boolean
  paused: boolean
  /** The lane's last hand-out in its queue's `turns`; 0 for none, and while names take no turns. */
  turn: number
  /** True if this turn has paused or resumed the lane. */
  noted: boolean
  /** The wall time of the last turn that has changed its counters or its pause. */
  usedAt: number
  /** The number of the first event after that turn: none that is older than the lane's last use follows it. */
  usedEvent: number
}

export function newCounts(): Counts {
  return [0, 0, 0, 0, 0, 0, 0]
}

export function newTotals(): LaneTotals {
  return { enqueued: 0, completed: 0, failed: 0, cancelled: 0 }
}

export function newSums(): Sums {
  return { counts: newCounts(), totals: newTotals(), retrying: 0 }
}

export function addSums(sums: Sums, more: Readonly<Sums>, sign: 1 | -1 = 1): void {
  const { counts, totals } = sums
  for (const [state, count] of more.counts.entries()) counts[state] = (counts[state] as number) + sign * count
  for (const total of ['enqueued', 'completed', 'failed', 'cancelled'] as const) totals[total] += sign * more.totals[total]
  sums.retrying += sign * more.retrying
}

export function newQueue(id: number, name: string, all = newSums()): Queue {
  return {
    id,
    name,
    counts: newCounts(),
    totals: newTotals(),
    retrying: 0,
    kept: newCounts(),
    all,
    lanes: new Map(),
    minuteAt: 0,
    settings: NO_SETTINGS,
    paused: false,
    suspended: false,
    fullMono: 0,
    sharing: undefined,
    keys: undefined,
    turns: 0,
    noted: false,
    drained: false,
    emptied: false,
    gone: false,
  }
}

export function newLane(id: number, queue: Queue, name: string): Lane {
  return {
    id,
    queue,
    name,
    counts: newCounts(),
    totals: newTotals(),
    retrying: 0,
    window: new Window(),
    groups: [],
    passed: undefined,
    counted: false,
    paused: false,
    turn: 0,
    noted: false,
    usedAt: 0,
    usedEvent: 0,
  }
}

/** Returns the number of jobs that have not ended: a drain waits for them. */
export function liveCountOf({ counts }: { readonly counts: Counts }): number {
  return counts[SCHEDULED] + counts[WAITING] + counts[ACTIVE] + counts[BLOCKED]
}

/** Returns the number of jobs that are yet to start: `maxLength` counts them. */
export function lengthOf({ counts }: { readonly counts: Counts }): number {
  return counts[SCHEDULED] + counts[WAITING] + counts[BLOCKED]
}

export function isDrained(queue: Pick<Queue, 'counts' | 'settings'>): boolean {
  return queue.settings.draining !== undefined && liveCountOf(queue) === 0
}

/** True if the queue has no live job, and its settings ask for an event when that becomes so. */
export function isEmptied(queue: Pick<Queue, 'counts' | 'settings'>): boolean {
  return queue.settings.empties !== undefined && liveCountOf(queue) === 0
}

export function countOf(lane: { readonly counts: Counts }, state: StateCode): number {
  return lane.counts[state] as number
}

/** Returns the number of finished jobs that the retention of their queue counts: those without a `keep` of their own. */
export function retainedOf({ counts, kept }: Queue, state: StateCode): number {
  return (counts[state] as number) - (kept[state] as number)
}

/** Returns the counts with the names of their states. */
export function namedCounts(counts: Counts): StateCounts {
  return Object.fromEntries(STATES.map((state, code) => [state, counts[code] as number])) as unknown as StateCounts
}

/** Notes a hand-out of the lane, if the names of its queue take turns. */
export function passTurn(lane: Lane): void {
  const { queue } = lane
  if (queue.settings.fairness !== undefined) lane.turn = ++queue.turns
}
