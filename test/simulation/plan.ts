/** What a seed is: how much is asked, of whom, and what goes wrong. Each seed draws its own mix; one in eight is without faults. */
import { Chance } from './chance.ts'

export interface Plan {
  readonly seed: number
  readonly faultFree: boolean
  readonly clients: number
  readonly operations: number
  readonly safetyMs: number
  /** Of a message at the most. */
  readonly delayMs: number
  /** Messages are packed as for a thread. */
  readonly packed: boolean
  /** Bytes and rows: bounds so small that they are met. */
  readonly windowBytes: number
  readonly sliceRows: number
  readonly jobsPerTurn: number
  readonly reattachGraceMs: number
  readonly eventsPerSnapshot: number
  /** Completed jobs that are kept. */
  readonly keep: number
  readonly recovery: 'immediate' | 'backoff'

  // Per transaction.
  readonly engineCrash: number
  readonly ioError: number
  readonly commitError: number
  readonly slowCommit: number
  readonly statementError: number

  // Times in the safety phase.
  readonly writerDeaths: number
  readonly processDeaths: number
  readonly clientDeaths: number
  readonly cuts: number
  readonly freezes: number
  readonly wallJumps: number
  readonly thefts: number
  readonly fullDisks: number
  readonly busySpells: number

  /** Of the workers' clocks. */
  readonly drift: number
}

export const FAULTS = [
  'engineCrash',
  'ioError',
  'commitError',
  'slowCommit',
  'statementError',
  'writerDeaths',
  'processDeaths',
  'clientDeaths',
  'cuts',
  'freezes',
  'wallJumps',
  'thefts',
  'fullDisks',
  'busySpells',
  'drift',
] as const satisfies readonly (keyof Plan)[]

/** What shrinking may leave out or make less of. */
export const REDUCTIONS = [...FAULTS, 'delays', 'limits', 'clients', 'half', 'quarter'] as const

export function planOf(seed: number, without: ReadonlySet<string> = new Set()): Plan {
  const chance = new Chance(seed)
  const faultFree = seed % 8 === 0
  const some = (probability: number, value: () => number): number => (chance.hits(probability) ? value() : 0)
  const drawn: Plan = {
    seed,
    faultFree,
    clients: chance.whole(1, 3),
    operations: chance.whole(15, 70),
    safetyMs: chance.whole(2_000, 20_000),
    delayMs: chance.pick([0, 0, 1, 5, 50, 500]),
    packed: chance.hits(0.25),
    windowBytes: chance.pick([4 * 2 ** 20, 4 * 2 ** 20, 400, 150, 60]),
    sliceRows: chance.pick([500, 500, 3, 1]),
    jobsPerTurn: chance.pick([2_000, 2_000, 8, 1]),
    reattachGraceMs: chance.pick([30_000, 2_000, 300]),
    eventsPerSnapshot: chance.pick([500, 50, 5]),
    keep: chance.pick([1_000_000, 1_000_000, 5, 0]),
    recovery: chance.pick(['immediate', 'backoff'] as const),
    engineCrash: some(0.4, () => chance.random() * 0.03),
    ioError: some(0.3, () => chance.random() * 0.06),
    commitError: some(0.4, () => chance.random() * 0.06),
    slowCommit: some(0.25, () => chance.random() * 0.05),
    statementError: some(0.15, () => chance.random() * 0.02),
    writerDeaths: some(0.4, () => chance.whole(1, 3)),
    processDeaths: some(0.3, () => chance.whole(1, 2)),
    clientDeaths: some(0.3, () => chance.whole(1, 2)),
    cuts: some(0.35, () => chance.whole(1, 3)),
    freezes: some(0.3, () => chance.whole(1, 3)),
    wallJumps: some(0.35, () => chance.whole(1, 3)),
    thefts: some(0.04, () => 1),
    fullDisks: some(0.15, () => chance.whole(1, 2)),
    busySpells: some(0.15, () => chance.whole(1, 2)),
    drift: some(0.25, () => chance.random() * 0.1 - 0.05),
  }
  return reduced(drawn, new Set(faultFree ? [...FAULTS, ...without] : without))
}

function reduced(plan: Plan, without: ReadonlySet<string>): Plan {
  const share = (without.has('half') ? 0.5 : 1) * (without.has('quarter') ? 0.5 : 1)
  return {
    ...plan,
    ...Object.fromEntries(FAULTS.filter((fault) => without.has(fault)).map((fault) => [fault, 0])),
    ...(without.has('delays') && { delayMs: 0, packed: false }),
    ...(without.has('limits') && {
      windowBytes: 4 * 2 ** 20,
      sliceRows: 500,
      jobsPerTurn: 2_000,
      reattachGraceMs: 30_000,
      eventsPerSnapshot: 500,
      keep: 1_000_000,
    }),
    ...(without.has('clients') && { clients: 1 }),
    operations: Math.ceil(plan.operations * share),
    safetyMs: Math.ceil(plan.safetyMs * share),
  }
}

/** What can still be left out of a plan. */
export function reductionsOf(plan: Plan): string[] {
  return REDUCTIONS.filter((reduction) => !(reduction in plan) || plan[reduction as keyof Plan] !== 0)
}
