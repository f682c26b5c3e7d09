/**
 * What a seed is: how much is asked, of whom, and what goes wrong. Each seed draws its own mix; one in eight is without faults, one
 * is about leases (long runs in other processes, slow messages, connections that break), one about outcomes that are waited for
 * while commits fail, one about producers' journals; one in sixteen is about what queues are told, one about flows, one about
 * schedules, one about readers of events, one about apps with an outbox, three about walks through the jobs while old ones go, and one
 * about clients with a codec. Of two in sixteen half of the workers take many jobs at once. Jobs that join others are in most worlds about
 * flows, and in one of eight of the others.
 */
import { LIMITS } from '@millrace/core'
import { Chance } from './chance.ts'
import { SEASONS } from './schedules.ts'

const HOUR_MS = 3_600_000
/** As long as the product keeps completed jobs and events: no world lasts that long. */
export const WEEK_MS = 7 * 86_400_000
/** Of events: more than any world has. */
const ALL_BYTES = 2 ** 30

/** Bounds that no world would meet as they are; one in four of these is tiny in half of the worlds. */
const TINY = {
  windowJobs: [3, 1],
  windowsJobs: [6, 2],
  windowsBytes: [500],
  commandsInFlight: [4, 1],
  bytesInFlight: [2_000],
  enqueuesHeld: [3],
  pruneEveryMs: [300],
  keysEveryMs: [300, 50],
  idsPerSlice: [2, 1],
  sliceSchedules: [1],
  ticksCaughtUp: [2],
  exportEvents: [7, 1],
  exportBytes: [60],
  eventsPassed: [5, 1],
  edgesPerPage: [1],
  parentsBytes: [40],
  attemptsPerJob: [2],
  logLinesPerRun: [1],
  keyJobsInLine: [3, 1],
  keysFar: [2, 1],
} as const satisfies Partial<Record<keyof typeof LIMITS, readonly number[]>>

export interface Plan {
  readonly seed: number
  readonly faultFree: boolean
  readonly clients: number
  readonly operations: number
  readonly safetyMs: number
  /** From a full hour to the world's beginning. */
  readonly beginsMs: number
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
  /** Of most jobs, which then run for longer than that; 0: each has its own. */
  readonly leaseMs: number
  /** Of jobs without a heartbeat, and of remote sessions that hold none. */
  readonly defaultLeaseMs: number
  /** How often whoever enqueues waits for the outcome. */
  readonly waits: number
  /** How often a call is about what queues are told: limits, rates, pauses; then most jobs have a key. */
  readonly limits: number
  /** Some of those are about all queues at once. */
  readonly pausesAll: boolean
  /** How often a call tells a queue how long its own finished jobs are kept. */
  readonly retains: number
  /** How often a queue is told its share, or all get many jobs at once. */
  readonly shares: number
  /** How often a queue limits its keys, or gets a burst of jobs of few keys. */
  readonly crowdedKeys: number
  /** How often somebody pauses a queue or a part of it, mostly for a time, or resumes it. */
  readonly pauses: number
  /** How often a queue is told where its dead letters go. */
  readonly deadLetters: number
  /** How many of the remote clients put what they enqueue into a journal first. */
  readonly journals: number
  /** Apps that write jobs into transactions of their own. */
  readonly outboxes: number
  /** Who follows the events by cursor. */
  readonly readers: number
  /** That one question looks at. */
  readonly eventsPerPage: number
  /** How often something is asked of schedules. */
  readonly schedules: number
  /** Half of them by cron expressions, some with an end. */
  readonly crons: boolean
  /** Some of them with a beginning, which may have gone by. */
  readonly startsAt: boolean
  /** How often somebody changes a schedule as soon as its last job waits; then most of its jobs wait again. */
  readonly amends: number
  /** When and where clocks are about to change as the world begins. */
  readonly season: (typeof SEASONS)[number] | undefined
  /** How often a call is for a flow, or for a job and all that waits for it. */
  readonly flows: number
  /** How many flows are batches of jobs with one that runs when they have ended. */
  readonly callbacks: number
  /** How many jobs join others that they create, and wait for them. */
  readonly joins: number
  /** How often somebody does something to such a job, or to one of those that it waits for. */
  readonly joinActs: number
  /** How many jobs are programs of durable calls. */
  readonly programs: number
  /** When their code becomes longer, is put back, and becomes longer for good. */
  readonly deploys: readonly number[]
  /** How often somebody brings back, cancels or deletes a flow's first job as soon as it has ended. */
  readonly hasty: number
  /** How long the engine takes turns before it lets others come in between; 0 for one turn. */
  readonly turnMs: number
  /** How many of the workers take many jobs at once. */
  readonly batches: number
  /** How often somebody walks through the jobs, or searches them. */
  readonly looks: number
  /** That one page of such a walk looks at. */
  readonly walkRows: number
  /** Other bounds that are smaller than those of the product. */
  readonly tiny: Readonly<Partial<Record<keyof typeof TINY, number>>>
  /** Clients put a codec around data. */
  readonly codec: boolean
  /** How long what runs may take in a worker that somebody tells to stop; none: nobody does. */
  readonly stops: readonly number[]
  /** Completed jobs that are kept. */
  readonly keep: number
  /** How long finished jobs are kept. */
  readonly keepMs: number
  /** How long events are. */
  readonly journalMs: number
  /** How much room they may take. */
  readonly journalBytes: number
  readonly recovery: 'immediate' | 'backoff'

  // Per transaction.
  readonly engineCrash: number
  readonly ioError: number
  readonly commitError: number
  readonly slowCommit: number
  readonly statementError: number

  // Per statement of an app's: it dies there, or its database has trouble.
  readonly appDeath: number
  readonly appError: number

  // Times in the safety phase.
  readonly writerDeaths: number
  readonly processDeaths: number
  readonly clientDeaths: number
  readonly cuts: number
  readonly freezes: number
  readonly wallJumps: number
  readonly thefts: number
  /** How many jobs are enqueued by a name that may be defined after them. */
  readonly late: number
  /** How often a connection speaks of a run that another one holds. */
  readonly strangers: number
  readonly fullDisks: number
  readonly busySpells: number

  /** Of the workers' clocks. */
  readonly drift: number
  /** How often a worker is paused, resumed, or told how much may run. */
  readonly adjusts: number
  /** How often a change of a queue's limits is about one that queues share. */
  readonly sharedLimits: number
  /** How often a change of a queue's limits is about a tier of its keys. */
  readonly keyTiers: number
  /** How many of the workers that serve several queues have a strict order of them. */
  readonly strictOrders: number
  /** Times that a connection holds back what it carries, each direction for as long as it likes, and lets it go in a burst. */
  readonly clogs: number
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
  'clogs',
  'appDeath',
  'appError',
] as const satisfies readonly (keyof Plan)[]

/** What shrinking may leave out or make less of. */
export const REDUCTIONS = [
  ...FAULTS,
  'leaseMs',
  'defaultLeaseMs',
  'waits',
  'limits of queues',
  'pausesAll',
  'retains',
  'shares',
  'crowdedKeys',
  'pauses',
  'deadLetters',
  'journals',
  'outboxes',
  'readers',
  'schedules',
  'startsAt',
  'amends',
  'season',
  'flows',
  'callbacks',
  'joins',
  'programs',
  'deploys',
  'hasty',
  'batches',
  'looks',
  'tiny',
  'journalMs',
  'beginsMs',
  'codec',
  'stops',
  'strangers',
  'late',
  'adjusts',
  'strictOrders',
  'sharedLimits',
  'keyTiers',
  'delays',
  'limits',
  'clients',
  'half',
  'quarter',
] as const

/** By the rest of the seed when divided by sixteen; none has none. What they draw is drawn last: what else a seed is stays as it is. */
const THEMES: Readonly<Record<number, (chance: Chance) => Partial<Plan>>> = {
  0: aboutFlows,
  1: aboutOutboxes,
  2: aboutOutcomes,
  3: aboutJournals,
  4: aboutFlows,
  5: aboutLeases,
  6: aboutLimits,
  7: aboutLooks,
  8: aboutLooks,
  9: aboutCodecs,
  10: (chance) => ({ ...aboutOutcomes(chance), batches: 0.5, crowdedKeys: 15 }),
  11: aboutJournals,
  13: (chance) => ({ ...aboutLeases(chance), batches: 0.5 }),
  12: aboutSchedules,
  14: aboutReaders,
  15: aboutLooks,
}

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
    // This, and what else has a chance of its own, leaves the rest of what a seed is as it was without.
    beginsMs: new Chance(seed ^ 0xb391).pick([0, 50_000, HOUR_MS - 5_000, HOUR_MS - 1_000]),
    delayMs: chance.pick([0, 0, 1, 5, 50, 500]),
    packed: chance.hits(0.25),
    windowBytes: chance.pick([4 * 2 ** 20, 4 * 2 ** 20, 400, 150, 60]),
    sliceRows: chance.pick([500, 500, 3, 1]),
    jobsPerTurn: chance.pick([2_000, 2_000, 8, 1]),
    reattachGraceMs: chance.pick([30_000, 2_000, 300]),
    eventsPerSnapshot: chance.pick([500, 50, 5]),
    leaseMs: 0,
    defaultLeaseMs: new Chance(seed ^ 0x1ea5e).pick([LIMITS.leaseMs, 20_000, 10_000, 3_000]),
    waits: 0,
    limits: 0,
    pausesAll: false,
    retains: 0,
    shares: 0,
    crowdedKeys: 0,
    pauses: new Chance(seed ^ 0x9a05e).pick([0, 0, 0, 0, 8]),
    deadLetters: drawLetters(seed),
    journals: 0,
    outboxes: 0,
    readers: 0,
    eventsPerPage: 500,
    schedules: 0,
    crons: false,
    startsAt: false,
    amends: 0,
    season: undefined,
    flows: 0,
    callbacks: 0,
    ...drawJoins(seed),
    ...drawPrograms(seed),
    hasty: 0,
    turnMs: LIMITS.turnMs,
    batches: 0,
    looks: 0,
    walkRows: LIMITS.walkRows,
    tiny: drawTiny(seed),
    codec: false,
    // It gives back what reaches it too late.
    stops: faultFree || seed % 3 > 0 ? [] : [0, 100, 2_000, Number.POSITIVE_INFINITY],
    keep: chance.pick([1_000_000, 1_000_000, 5, 0]),
    keepMs: WEEK_MS,
    journalMs: new Chance(seed ^ 0x10a1).pick([WEEK_MS, WEEK_MS, WEEK_MS, 2_000, 200]),
    journalBytes: new Chance(seed ^ 0x10b1).pick([ALL_BYTES, ALL_BYTES, ALL_BYTES, ALL_BYTES, ALL_BYTES, 4_000]),
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
    strangers: new Chance(seed ^ 0x57a9e).pick([0, 0, 0, 8]),
    late: new Chance(seed ^ 0x1a7e).pick([0, 0, 0, 0, 12]),
    adjusts: new Chance(seed ^ 0xad105).pick([0, 0, 0, 8, 24]),
    sharedLimits: new Chance(seed ^ 0x54a2ed).pick([0, 0.3, 0.7]),
    keyTiers: new Chance(seed ^ 0x71e25).pick([0, 0.3, 0.7]),
    strictOrders: new Chance(seed ^ 0x57c7).pick([0, 0, 0, 0.5, 1]),
    fullDisks: some(0.15, () => chance.whole(1, 2)),
    busySpells: some(0.15, () => chance.whole(1, 2)),
    drift: some(0.25, () => chance.random() * 0.1 - 0.05),
    clogs: some(0.2, () => chance.whole(1, 3)),
    appDeath: 0,
    appError: 0,
  }
  const themed = { ...drawn, ...THEMES[seed % 16]?.(chance) }
  return reduced(themed, new Set(faultFree ? [...FAULTS, ...without] : without))
}

/** Of a chance of its own, so that worlds without any are as they were. */
function drawLetters(seed: number): number {
  const chance = new Chance(seed ^ 0x1e77)
  return chance.hits(0.35) ? chance.whole(1, 6) : 0
}

/** The same, of jobs that join others. */
function drawJoins(seed: number): Pick<Plan, 'joins' | 'joinActs'> {
  const chance = new Chance(seed ^ 0x10145)
  const aboutFlows = THEMES[seed % 16] === THEMES[0]
  if (!chance.hits(aboutFlows ? 0.8 : 0.12)) return { joins: 0, joinActs: 0 }
  return { joins: chance.pick(aboutFlows ? [0.1, 0.3, 0.5] : [0.05, 0.2]), joinActs: chance.pick([0, 10, 30]) }
}

/** The same, of jobs whose handlers remember. */
function drawPrograms(seed: number): Pick<Plan, 'programs' | 'deploys'> {
  const chance = new Chance(seed ^ 0x57e9)
  if (!chance.hits(0.3)) return { programs: 0, deploys: [] }
  const deploys = Array.from({ length: 3 }, () => chance.random() * 10_000).sort((a, b) => a - b)
  return { programs: chance.pick([0.1, 0.3, 0.8]), deploys: chance.hits(0.5) ? deploys : [] }
}

function drawTiny(seed: number): Plan['tiny'] {
  const chance = new Chance(seed ^ 0x71b7)
  if (chance.hits(0.5)) return {}
  return Object.fromEntries(
    Object.entries(TINY).flatMap(([bound, sizes]) => (chance.hits(0.25) ? [[bound, chance.pick<number>(sizes)]] : [])),
  )
}

/** Nothing dies: whoever waits has nobody but the engine to tell it. */
function aboutOutcomes(chance: Chance): Partial<Plan> {
  const nobodyDies = { engineCrash: 0, writerDeaths: 0, processDeaths: 0, clientDeaths: 0, thefts: 0 }
  return { ...nobodyDies, waits: 0.5, commitError: 0.02 + chance.random() * 0.15 }
}

/** Producers die and are cut off, and so does the engine: what is in their journals comes again and again. */
function aboutJournals(chance: Chance): Partial<Plan> {
  return {
    journals: 0.8,
    clients: chance.whole(2, 4),
    clientDeaths: chance.whole(0, 5),
    cuts: chance.whole(0, 5),
    waits: chance.pick([0, 0.3]),
  }
}

/** Apps die and are cut off between any two statements, and so does the engine: what they have committed is sent again and again. */
function aboutOutboxes(chance: Chance): Partial<Plan> {
  return {
    outboxes: chance.whole(1, 2),
    appDeath: chance.pick([0, 0.03, 0.1, 0.2]),
    appError: chance.pick([0, 0.03, 0.15]),
    clients: chance.whole(1, 2),
    clientDeaths: chance.whole(0, 3),
    cuts: chance.whole(0, 4),
    limits: chance.pick([0, 0, 0.15]),
    journals: chance.pick([0, 0, 0.5]),
  }
}

/** Keys that run into their limits, which change and come to an end while engines die. */
function aboutLimits(chance: Chance): Partial<Plan> {
  const drawn = { limits: chance.pick([0.1, 0.25]), clients: chance.whole(1, 3), operations: chance.whole(40, 90) }
  const pauses = { pausesAll: chance.hits(0.5), retains: chance.pick([0, 0, 0.05, 0.15]) }
  return { ...drawn, ...pauses, shares: chance.pick([0, 10, 20]), crowdedKeys: chance.pick([0, 20, 50]) }
}

/** What breaks is what stands between a reader and the journal; and the journal's commits. */
function aboutReaders(chance: Chance): Partial<Plan> {
  return {
    readers: chance.whole(1, 3),
    eventsPerPage: chance.pick([500, 7, 2, 1]),
    clients: chance.whole(2, 3),
    clientDeaths: chance.whole(0, 3),
    cuts: chance.whole(0, 4),
    commitError: chance.pick([0, 0.03, 0.1]),
  }
}

/** Ticks come by themselves all the time, beside all that goes wrong. */
function aboutSchedules(chance: Chance): Partial<Plan> {
  const drawn = { schedules: chance.whole(4, 25), waits: chance.pick([0, 0.2]), crons: chance.pick([false, true]) }
  return { ...drawn, season: chance.pick([undefined, ...SEASONS]), startsAt: chance.hits(0.5), amends: chance.pick([0, 0.5]) }
}

function aboutFlows(chance: Chance): Partial<Plan> {
  const drawn = { flows: 0.4, sliceRows: chance.pick([500, 3, 2, 1]), callbacks: chance.pick([0, 0.3]), looks: chance.pick([0, 15]) }
  // Somebody acts while children are told: that takes no time, so calls have no delay, and the engine takes one turn at a time.
  return chance.hits(0.6) ? drawn : { ...drawn, hasty: 0.7, turnMs: 0, delayMs: 0, sliceRows: chance.pick([3, 2, 1]) }
}

/** Somebody walks through the jobs while they come and go, some of them because their time is over. */
function aboutLooks(chance: Chance): Partial<Plan> {
  const drawn = { looks: chance.whole(5, 40), walkRows: chance.pick([2_000, 5, 1]), keepMs: chance.pick([WEEK_MS, 300, 3_000]) }
  return { ...drawn, retains: chance.pick([0, 0, 0.05, 0.15]), shares: chance.pick([0, 0, 10]) }
}

/** Whatever goes wrong, what comes back is what was given, and the engine has none of it in plain. */
function aboutCodecs(chance: Chance): Partial<Plan> {
  return { codec: true, journals: chance.pick([0, 0.5]), waits: chance.pick([0, 0.3]) }
}

function aboutLeases(chance: Chance): Partial<Plan> {
  return {
    clients: chance.whole(2, 3),
    delayMs: chance.pick([20, 100, 300]),
    leaseMs: chance.pick([300, 600, 1_000, 2_000]),
    recovery: 'immediate',
    clogs: chance.whole(2, 8),
  }
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
      keepMs: WEEK_MS,
      walkRows: LIMITS.walkRows,
    }),
    ...(without.has('leaseMs') && { leaseMs: 0 }),
    ...(without.has('defaultLeaseMs') && { defaultLeaseMs: LIMITS.leaseMs }),
    ...(without.has('limits of queues') && { limits: 0 }),
    ...(without.has('pausesAll') && { pausesAll: false }),
    ...(without.has('retains') && { retains: 0 }),
    ...(without.has('shares') && { shares: 0 }),
    ...(without.has('crowdedKeys') && { crowdedKeys: 0 }),
    ...(without.has('pauses') && { pauses: 0 }),
    ...(without.has('deadLetters') && { deadLetters: 0 }),
    ...(without.has('waits') && { waits: 0 }),
    ...(without.has('journals') && { journals: 0 }),
    ...(without.has('outboxes') && { outboxes: 0 }),
    ...(without.has('readers') && { readers: 0, eventsPerPage: 500 }),
    ...(without.has('schedules') && { schedules: 0 }),
    ...(without.has('startsAt') && { startsAt: false }),
    ...(without.has('amends') && { amends: 0 }),
    ...(without.has('season') && { season: undefined }),
    ...(without.has('flows') && { flows: 0 }),
    ...(without.has('callbacks') && { callbacks: 0 }),
    ...(without.has('joins') && { joins: 0, joinActs: 0 }),
    ...(without.has('programs') && { programs: 0 }),
    ...(without.has('deploys') && { deploys: [] }),
    ...(without.has('hasty') && { hasty: 0, turnMs: LIMITS.turnMs }),
    ...(without.has('batches') && { batches: 0 }),
    ...(without.has('looks') && { looks: 0, keepMs: WEEK_MS, walkRows: LIMITS.walkRows }),
    ...(without.has('beginsMs') && { beginsMs: 0 }),
    ...(without.has('journalMs') && { journalMs: WEEK_MS, journalBytes: ALL_BYTES }),
    ...(without.has('tiny') && { tiny: {} }),
    ...(without.has('codec') && { codec: false }),
    ...(without.has('stops') && { stops: [] }),
    ...(without.has('strangers') && { strangers: 0 }),
    ...(without.has('late') && { late: 0 }),
    ...(without.has('adjusts') && { adjusts: 0 }),
    ...(without.has('sharedLimits') && { sharedLimits: 0 }),
    ...(without.has('keyTiers') && { keyTiers: 0 }),
    ...(without.has('strictOrders') && { strictOrders: 0 }),
    ...(without.has('clients') && { clients: 1 }),
    operations: Math.ceil(plan.operations * share),
    safetyMs: Math.ceil(plan.safetyMs * share),
  }
}

/** What can still be left out of a plan. */
export function reductionsOf(plan: Plan): string[] {
  return REDUCTIONS.filter((reduction) => !(reduction in plan) || Boolean(plan[reduction as keyof Plan]))
}

/** Its journal keeps all that has ever happened. */
export function forgetsNothing({ journalMs, journalBytes }: Plan): boolean {
  return journalMs === WEEK_MS && journalBytes === ALL_BYTES
}
