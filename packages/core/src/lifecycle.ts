/**
 * The lifecycle of a job, in one table. The code moves jobs only through it (`move` in effects.ts), the SQL CHECKs and the
 * drawing in docs/lifecycle.md mirror it, and a test holds them against each other.
 */

/** Every state, in the order of its code: the code is what the file stores. */
export const STATES = ['scheduled', 'waiting', 'active', 'blocked', 'completed', 'failed', 'cancelled'] as const

/** A state of a job. */
export type State = (typeof STATES)[number]

export const SCHEDULED = 0
export const WAITING = 1
export const ACTIVE = 2
export const BLOCKED = 3
export const COMPLETED = 4
export const FAILED = 5
export const CANCELLED = 6

export type StateCode = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** The states in which each transition may start and end. `enqueue` starts from nothing. */
export const LIFECYCLE = {
  enqueue: { from: [], to: [SCHEDULED, WAITING, BLOCKED] },
  promote: { from: [SCHEDULED], to: [WAITING] },
  release: { from: [BLOCKED], to: [SCHEDULED, WAITING] },
  failByParent: { from: [BLOCKED], to: [FAILED] },
  start: { from: [WAITING], to: [ACTIVE] },
  complete: { from: [ACTIVE], to: [COMPLETED] },
  retry: { from: [ACTIVE], to: [SCHEDULED, WAITING] },
  snooze: { from: [ACTIVE], to: [SCHEDULED] },
  wait: { from: [ACTIVE], to: [SCHEDULED] },
  giveBack: { from: [ACTIVE], to: [WAITING] },
  join: { from: [ACTIVE], to: [BLOCKED] },
  exhaust: { from: [ACTIVE], to: [FAILED] },
  expire: { from: [SCHEDULED, WAITING, BLOCKED], to: [FAILED] },
  cancel: { from: [SCHEDULED, WAITING, ACTIVE, BLOCKED], to: [CANCELLED] },
  reschedule: { from: [SCHEDULED, WAITING], to: [SCHEDULED, WAITING] },
  revive: { from: [FAILED, CANCELLED], to: [WAITING, BLOCKED] },
} as const satisfies Record<string, { from: readonly StateCode[]; to: readonly StateCode[] }>

export type Transition = keyof typeof LIFECYCLE

/** A final state is left only by `revive` (retry, redrive) or by deletion. */
export function isFinal(state: StateCode): boolean {
  return state >= COMPLETED
}

/** The states of jobs that still have something to do, and so hold their unique key. */
export function isLive(state: StateCode): boolean {
  return state < COMPLETED
}

export function mayMove(transition: Transition, from: StateCode | undefined, to: StateCode): boolean {
  const rule: { from: readonly StateCode[]; to: readonly StateCode[] } = LIFECYCLE[transition]
  return (from === undefined ? rule.from.length === 0 : rule.from.includes(from)) && rule.to.includes(to)
}
