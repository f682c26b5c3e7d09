/** What a seed makes happen: each draws its own mix, and one in eight is a world without faults. */
import { Chance } from './chance.ts'

export interface Plan {
  readonly seed: number
  readonly faultFree: boolean
  /** Probabilities, per statement or per message. */
  readonly crashAtStatement: number
  readonly storeTrouble: number
  readonly commitTrouble: number
  readonly slowCommit: number
  /** Times in the safety phase. */
  readonly writerDeaths: number
  readonly processDeaths: number
  readonly clientDeaths: number
  readonly freezes: number
  readonly wallJumps: number
  readonly thefts: number
  readonly clients: number
  readonly operations: number
  readonly delayMs: number
  readonly drift: number
  readonly safetyMs: number
}

const FAULTS = [
  'crashAtStatement',
  'storeTrouble',
  'commitTrouble',
  'slowCommit',
  'writerDeaths',
  'processDeaths',
  'clientDeaths',
  'freezes',
  'wallJumps',
  'thefts',
  'drift',
] as const satisfies readonly (keyof Plan)[]
export type FaultName = (typeof FAULTS)[number]

/** `without`: faults that are left out, as shrinking does. */
export function planOf(seed: number, without: ReadonlySet<string> = new Set()): Plan {
  const chance = new Chance(seed)
  const faultFree = seed % 8 === 0
  const some = (value: () => number): number => (chance.hits(0.4) ? value() : 0)
  const drawn: Plan = {
    seed,
    faultFree,
    crashAtStatement: some(() => chance.random() * 0.004),
    storeTrouble: some(() => chance.random() * 0.02),
    commitTrouble: some(() => chance.random() * 0.08),
    slowCommit: some(() => chance.random() * 0.05),
    writerDeaths: some(() => chance.whole(1, 3)),
    processDeaths: some(() => 1),
    clientDeaths: some(() => chance.whole(1, 2)),
    freezes: some(() => chance.whole(1, 3)),
    wallJumps: some(() => chance.whole(1, 3)),
    thefts: chance.hits(0.05) ? 1 : 0,
    clients: chance.whole(1, 3),
    operations: chance.whole(15, 60),
    delayMs: chance.pick([0, 1, 5, 50, 500]),
    drift: chance.hits(0.3) ? chance.random() * 0.1 - 0.05 : 0,
    safetyMs: chance.whole(2_000, 12_000),
  }
  const off = faultFree ? FAULTS : FAULTS.filter((fault) => without.has(fault))
  return { ...drawn, ...Object.fromEntries(off.map((fault) => [fault, 0])), ...(without.has('clients') && { clients: 1 }) }
}

export function faultsOf(plan: Plan): FaultName[] {
  return FAULTS.filter((fault) => plan[fault] !== 0)
}
