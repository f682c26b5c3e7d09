/**
 * Jobs with a `concurrencyKey`, in queues that limit or pause keys. If a lane has more jobs of a key than may run, the rest are
 * parked behind a gate. They wait on disk, outside the lane, and block no other job. Memory holds the keys that run, stand in a
 * window, are parked or paused, or whose token buckets are not full. Of the keys that have jobs only on disk it holds the last
 * 1,000.
 */
import { LIMITS } from '../limits.ts'
import { tokensOf } from './bucket.ts'
import type { Lane, Queue } from './lane.ts'
import { Window } from './window.ts'

export interface Key {
  readonly queue: Queue
  readonly text: string
  active: number
  paused: boolean
  /** One gate for each job name. */
  readonly gates: Map<Lane, Gate>
  /** True if this turn has paused or resumed the key. */
  noted: boolean
  /** The time when its token bucket is full again; monotonic. */
  fullMono: number
  /** The time when its bucket is to be checked, maybe too early; monotonic. */
  lookMono: number
  /** The place among the buckets that are not full; -1 if it is full. */
  bucketPlace: number
  /** True if this turn has changed its bucket. */
  bucketNoted: boolean
}

export interface Gate {
  /** The row number; below zero if its jobs stand by arrival (`keyOrder`). */
  readonly id: number
  readonly key: Key
  readonly lane: Lane
  /** The number of jobs in the lane's window. */
  lined: number
  /** The number of jobs known to be in line behind those in memory; never more than there are. */
  outside: number
  parked: number
  /** The parked jobs that are let go next. */
  readonly window: Window
  /** True if this turn has changed its row. */
  noted: boolean
}

export function newKey(queue: Queue, text: string): Key {
  const bucket = { fullMono: 0, lookMono: 0, bucketPlace: -1, bucketNoted: false }
  return { queue, text, active: 0, paused: false, gates: new Map(), noted: false, ...bucket }
}

export function newGate(id: number, key: Key, lane: Lane): Gate {
  return { id, key, lane, lined: 0, outside: 0, parked: 0, window: new Window(), noted: false }
}

/** Returns how many of the key's jobs may run now, beyond those that do. */
export function roomOf({ paused, active, queue, fullMono }: Key, mono: number): number {
  if (paused) return 0
  const { keyOrder, perKeyLimit = keyOrder === 'strict' ? 1 : Number.POSITIVE_INFINITY, perKeyRateLimit } = queue.settings
  const room = perKeyLimit - active
  return perKeyRateLimit === undefined || room <= 0 ? room : Math.min(room, tokensOf(perKeyRateLimit, fullMono, mono))
}

/** True if one more job may stand in line. No key has more of one name there than may run, so that others have their turn. */
export function mayLine({ key, lined, outside }: Gate, mono: number): boolean {
  return lined + outside < roomOf(key, mono)
}

/**
 * True if a new job may stand in line. The first of its key always may. If the key has jobs only on disk, some more may: parking
 * them would take a gate for every key with a few jobs.
 */
export function mayEnter(gate: Gate, mono: number): boolean {
  return mayLine(gate, mono) || isIdle(gate) || (isFar(gate) && gate.outside < LIMITS.keyJobsInLine)
}

/** True if no job of the key runs, and none of the gate is in memory or parked. */
export function isFar({ key, lined, parked }: Gate): boolean {
  return key.active + lined + parked === 0
}

/** True if the gate's jobs stand by arrival, and one of all jobs with the key is let go at a time. */
export function isStrict({ id }: Gate): boolean {
  return id < 0
}

export function isIdle({ lined, outside, parked }: Gate): boolean {
  return lined + outside + parked === 0
}
