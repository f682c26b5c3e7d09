/** What many seeds have met, together. */
import type { Outcome } from './world.ts'

export interface Totals {
  seeds: number
  events: number
  grants: number
  virtualMs: number
  violations: number
  met: Record<string, number>
}

/** Rare paths that so many seeds must meet. */
export const PROBES: readonly string[] = [
  'crash at BEGIN',
  'crash at a statement',
  'crash at before COMMIT',
  'crash at after COMMIT',
  'crash between deliveries',
  'engineCrash',
  'writerDeath',
  'processDeath',
  'clientDeath',
  'cut',
  'clog',
  'freeze',
  'wallJump',
  'theft',
  'engineFailed OWNER_LOST',
  'fullDisk',
  'full',
  'ballastReleased',
  'busySpell',
  'busy',
  'ioError',
  'statementError',
  'slowCommit',
  'slowRead',
  'answersPutOff',
  'commitLost',
  'phantomCommit',
  'reloaded',
  'refused STALE_RUN',
  'strangerRefused',
  'strangerClaims',
  'definedLate',
  'settledLate',
  'redefined',
  'nameForgotten',
  'nameOfBeforeForgotten',
  'refused COMMIT_UNKNOWN',
  'refused DISK_FULL',
  'refused STORAGE',
  'refused STORAGE_BUSY',
  'refused INTERNAL',
  'refused UNIQUE_CONFLICT',
  'refused JOB_ACTIVE',
  'refused JOB_FINISHED',
  'refused JOB_NOT_FOUND',
  'completedTwice',
  'attachAdopts',
  'attachLost',
  'givenBack',
  'stalled',
  'lostTold',
  'lostAmidFaults',
  'zombie',
  'workerPaused',
  'concurrencySet',
  'handledTogether',
  'handledByKey',
  'abortedByDeadline',
  'timedOut',
  'cancelling',
  'eventRead',
  'eventsMissed',
  'readerGoesOn',
  'exported',
  'exportedAgain',
  'tick',
  'tickOfCron',
  'tickSinceItsBeginning',
  'beside',
  'spent',
  'ended',
  'triggered',
  'held',
  'waitingUpdated',
  'pauseExtended',
  'pauseOver',
  'shareUsedUp',
  'namesInTurn',
  'laterQueue',
  'sharedLimitReached',
  'tierFull',
  'queuesByPrefix',
  'dropped',
  'droppedBetweenAttempts',
  'expired',
  'revived',
  'pruned',
  'prunedByAge',
  'prunedByCount',
  'prunedByItsQueue',
  'prunedByItsOwnTime',
  'goneByItsOwnTime',
  'listed',
  'listedInPart',
  'keyMatched',
  'keysForgotten',
  'eventsForgotten',
  'forwarded',
  'forwardedInPart',
  'entryRefused',
  'app dies before COMMIT',
  'app dies after COMMIT',
  'app dies before DELETE',
  'app dies amid DELETE',
  'appError at DELETE',
  'outboxed',
  'outboxRolledBack',
  'outboxLeftBehind',
  'outboxPutOff',
  'outboxRefused',
  'cancelMany',
  'retryMany',
  'runNowMany',
  'updateMany',
  'relabelled',
  'keyReleased',
  'keyUntilStart',
  'foundByKey',
  'deleteMany',
  'manyDry',
  'watched',
  'windowCut',
  'failuresCounted',
  'deadLetter',
  'deadLetterFailed',
  'deadLetterRead',
  'flowReleased',
  'flowListed',
  'flowRepeated',
  'forsaken',
  'cancelledByParents',
  'flowAtFailure',
  'flowUnneeded',
  'broughtBackWithItsParent',
  'changedAsItIsTold',
  'joined',
  'joinedMore',
  'joinedSeen',
  'joinRefused',
  'memoryAudited',
]
const PROBED_SEEDS = 5_000

export function noTotals(): Totals {
  return { seeds: 0, events: 0, grants: 0, virtualMs: 0, violations: 0, met: {} }
}

export function addOutcome(totals: Totals, { events, grants, virtualMs, violations, met }: Outcome): void {
  addTotals(totals, { seeds: 1, events, grants, virtualMs, violations: violations.length > 0 ? 1 : 0, met })
}

export function addTotals(totals: Totals, more: Readonly<Totals>): void {
  for (const what of ['seeds', 'events', 'grants', 'virtualMs', 'violations'] as const) totals[what] += more[what]
  for (const [what, times] of Object.entries(more.met)) totals.met[what] = (totals.met[what] ?? 0) + times
}

/** Rare paths that no seed has taken, where there were enough of them. */
export function missed({ seeds, met }: Totals): string[] {
  return seeds < PROBED_SEEDS ? [] : PROBES.filter((probe) => met[probe] === undefined)
}

export function summary(totals: Totals): string {
  const { seeds, events, grants, virtualMs, violations, met } = totals
  const number = (value: number) => Math.round(value).toLocaleString('en')
  const rare = Object.entries(met).sort(([a], [b]) => (a < b ? -1 : 1))
  const missing = missed(totals)
  const crashes = (met['engineCrash'] ?? 0) + (met['processDeath'] ?? 0)
  return [
    `${number(seeds)} seeds, ${number(events)} events, ${number(grants)} grants, ${number(crashes)} crashes of the engine, ${number(met['cut'] ?? 0)} cuts, ${(virtualMs / 3_600_000).toFixed(1)} virtual hours, ${number(violations)} violations`,
    rare.map(([what, times]) => `${what} ${number(times)}`).join(', '),
    ...(missing.length > 0 ? [`never met: ${missing.join(', ')}`] : []),
  ].join('\n')
}
