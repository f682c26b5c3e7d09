/**
 * Jobs with a `concurrencyKey`, in queues that limit or pause keys. Where a lane has more jobs of a key than may run, the rest are parked
 * behind a gate: they wait on disk, outside the lane, and stand in nobody's way. In memory there are the keys that run, stand in a
 * window, are parked or paused, or whose token buckets are not full; and of those that have jobs on disk alone the last 1,000.
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
  /** One for each job name. */
  readonly gates: Map<Lane, Gate>
  /** Whether this turn has paused it, or let it go on. */
  noted: boolean
  /** When its token bucket is full again; monotonic. */
  fullMono: number
  /** When its bucket is to be looked at, maybe too early; monotonic. */
  lookMono: number
  /** Place among the buckets that are not full; -1 where it is. */
  bucketPlace: number
  /** Whether this turn has changed its bucket. */
  bucketNoted: boolean
}

export interface Gate {
  /** Row number: below zero where its jobs stand by arrival (`keyOrder`). */
  readonly id: number
  readonly key: Key
  readonly lane: Lane
  /** In the lane's window. */
  lined: number
  /** Known to be in line behind what is in memory: never more than are there. */
  outside: number
  parked: number
  /** The parked jobs that are let go next. */
  readonly window: Window
  /** Whether this turn has changed its row. */
  noted: boolean
}

export function newKey(queue: Queue, text: string): Key {
  const bucket = { fullMono: 0, lookMono: 0, bucketPlace: -1, bucketNoted: false }
  return { queue, text, active: 0, paused: false, gates: new Map(), noted: false, ...bucket }
}

export function newGate(id: number, key: Key, lane: Lane): Gate {
  return { id, key, lane, lined: 0, outside: 0, parked: 0, window: new Window(), noted: false }
}

/** How many of its jobs may run now, beyond those that do. */
export function roomOf({ paused, active, queue, fullMono }: Key, mono: number): number {
  if (paused) return 0
  const { keyOrder, perKeyLimit = keyOrder === 'strict' ? 1 : Number.POSITIVE_INFINITY, perKeyRateLimit } = queue.settings
  const room = perKeyLimit - active
  return perKeyRateLimit === undefined || room <= 0 ? room : Math.min(room, tokensOf(perKeyRateLimit, fullMono, mono))
}

/** Whether one more of its jobs may stand in line: no key has more there, of one name, than may run, so that others have their turn. */
export function mayLine({ key, lined, outside }: Gate, mono: number): boolean {
  return lined + outside < roomOf(key, mono)
}

/**
 * Whether a job that comes may stand in line. The first of its key always may. Where the key has jobs on disk alone, some more may: to
 * park them would take a gate for every key with a few jobs.
 */
export function mayEnter(gate: Gate, mono: number): boolean {
  return mayLine(gate, mono) || isIdle(gate) || (isFar(gate) && gate.outside < LIMITS.keyJobsInLine)
}

/** Whether nothing of it runs, is in memory, or is parked. */
export function isFar({ key, lined, parked }: Gate): boolean {
  return key.active + lined + parked === 0
}

/** Whether its jobs stand by arrival, and one of all that have the key is let go at a time. */
export function isStrict({ id }: Gate): boolean {
  return id < 0
}

export function isIdle({ lined, outside, parked }: Gate): boolean {
  return lined + outside + parked === 0
}
