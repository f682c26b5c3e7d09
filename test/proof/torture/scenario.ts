/**
 * What the tests and the long form have in common: a scenario does its harm in a folder of its own, and answers with what it counted
 * and what it found broken. It never throws for a broken promise: each is a violation, and all of them are told.
 */

export interface Setting {
  /** Of every choice that is made by chance. */
  readonly seed: number
  /** Empty, and removed afterwards unless something is violated. */
  readonly folder: string
  /** `slice` for a test of a few seconds, `long` for a round of the long form. */
  readonly size: 'slice' | 'long'
  /** Jobs of the soak. */
  readonly soakJobs: number
}

export interface Outcome {
  readonly cycles: number
  readonly kills: number
  /** Enqueues and ends that were acknowledged. */
  readonly acknowledged: number
  /** Of those, what is not there afterwards. */
  readonly lost: number
  readonly violations: readonly string[]
  /** What was measured, for the reader. */
  readonly facts: readonly string[]
  /** Why it could not be done here. */
  readonly skipped?: string
}

export type Scenario = (setting: Setting) => Promise<Outcome>

/** Counts while a scenario goes on. */
export class Tally {
  cycles = 0
  kills = 0
  acknowledged = 0
  lost = 0
  readonly violations: string[] = []
  readonly facts: string[] = []

  /** @param invariant its number in the list of promises, or its name */
  expect(holds: boolean, invariant: string, broken: string): void {
    if (!holds) this.violations.push(`${invariant}: ${broken}`)
  }

  add({ cycles, kills, acknowledged, lost, violations, facts }: Outcome): void {
    this.cycles += cycles
    this.kills += kills
    this.acknowledged += acknowledged
    this.lost += lost
    this.violations.push(...violations)
    this.facts.push(...facts)
  }
}

export function skippedFor(reason: string): Outcome {
  return { cycles: 0, kills: 0, acknowledged: 0, lost: 0, violations: [], facts: [], skipped: reason }
}
