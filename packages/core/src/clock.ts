/** Time and chance are arguments: these are the shapes in which they come. */

/** One reading, taken once per turn. */
export interface Now {
  /** Milliseconds since 1970: what due times, ttl and schedules are compared with. May jump. */
  readonly wall: number
  /** Milliseconds from an arbitrary start that never go back: leases, deadlines and timers. */
  readonly mono: number
}

export interface Clock {
  read(): Now
  /** Calls `wake` once, `ms` milliseconds from now; answers a function that forgets it. */
  setTimer(ms: number, wake: () => void): () => void
  /** Calls `work` when this turn of the event loop is over. A clock without a loop leaves it out. */
  readonly afterTurn?: (work: () => void) => void
}

/** Returns a number in [0, 1). */
export type Random = () => number
