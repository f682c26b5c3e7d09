/**
 * Changes many jobs by a filter, one bounded slice per command. Each job is judged as the command for a single job would judge
 * it, and skipped jobs are counted by reason. A dry run judges and changes nothing.
 */

import type { Decision } from '../../decision.ts'
import { ACTIVE, CANCELLED, FAILED, isFinal, SCHEDULED, STATES } from '../../lifecycle.ts'
import type {
  CancelManyCommand,
  DeleteManyCommand,
  ManyCommand,
  RetryManyCommand,
  RunNowManyCommand,
  UpdateManyCommand,
} from '../../manageCommands.ts'
import { isOfLastRun, type ListFilter } from '../../options/filter.ts'
import type { SkipReason, Slice } from '../../replies.ts'
import { exclusiveKey, placeOf } from '../records/exclusiveKey.ts'
import { awaitsMessage, DIRTY_INSERT, isAsleep, type Job } from '../records/job.ts'
import { isDeleted } from '../state/facts.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { cancelJob } from './cancel.ts'
import { contains } from './contains.ts'
import { removeJob } from './delete.ts'
import { matches, sliceOf } from './gatherMatching.ts'
import { isHeldByParents, makeDue, mayResume, revive } from './retry.ts'
import { rewindRefusal } from './rewind.ts'
import { change, changeLabels, isOfLabels } from './update.ts'

/** Returns why a job is skipped, or undefined if it is not. */
type Judge = (turn: TurnContext, job: Job) => SkipReason | undefined

export function cancelMany(turn: TurnContext, command: CancelManyCommand): Decision<'cancelMany'> {
  return slice(turn, command, notCancellable, (_turn, job) => cancelJob(turn, job, command))
}

export function retryMany(turn: TurnContext, command: RetryManyCommand): Decision<'retryMany'> {
  return slice(turn, command, notRetryable, (_turn, job) => (job.state === SCHEDULED ? makeDue(turn, job) : revive(turn, job)))
}

export function deleteMany(turn: TurnContext, command: DeleteManyCommand): Decision<'deleteMany'> {
  return slice(turn, command, notDeletable, erase)
}

export function runNowMany(turn: TurnContext, command: RunNowManyCommand): Decision<'runNowMany'> {
  return slice(turn, command, notScheduled, makeDue)
}

export function updateMany(turn: TurnContext, command: UpdateManyCommand): Decision<'updateMany'> {
  const { changes } = command
  if (isOfLabels(changes)) return slice(turn, command, none, (_turn, job) => changeLabels(turn, job, changes))
  return slice(turn, command, notUpdatable, (_turn, job) => change(turn, job, changes))
}

function notCancellable(_turn: TurnContext, { state, cancelRequested }: Job): SkipReason | undefined {
  if (isFinal(state)) return STATES[state]
  return cancelRequested ? 'cancelling' : undefined
}

function notRetryable(turn: TurnContext, job: Job): SkipReason | undefined {
  const { facts } = turn
  if (mayResume(job)) return undefined
  if (job.state !== FAILED && job.state !== CANCELLED) return STATES[job.state]
  if (isHeldByParents(facts, job)) return 'parentFailed'
  const held = exclusiveKey(job)
  const holder = held && facts.unique(held.name, held.key)
  if (holder !== undefined && holder.seq !== job.seq) return 'uniqueConflict'
  return rewindRefusal(turn, job) === undefined ? undefined : 'ambiguousRetry'
}

function notScheduled(_turn: TurnContext, job: Job): SkipReason | undefined {
  return job.state === SCHEDULED && !awaitsMessage(job) ? undefined : STATES[job.state]
}

function notUpdatable(_turn: TurnContext, job: Job): SkipReason | undefined {
  return job.state === ACTIVE || isAsleep(job) || isFinal(job.state) ? STATES[job.state] : undefined
}

/** No job is skipped. */
function none(): undefined {}

function notDeletable(_turn: TurnContext, { state }: Job): SkipReason | undefined {
  return state === ACTIVE ? 'active' : undefined
}

/** Removes a job and its idempotency keys, which may name a person. `delete` leaves them, so that a repeat creates nothing. */
function erase(turn: TurnContext, job: Job): void {
  removeJob(turn, job)
  const { idempotencyKey, uniqueKey, released = false, shape } = job.extras ?? {}
  const others = uniqueKey !== undefined || released
  if (idempotencyKey === undefined && !others && shape === undefined) return
  if (shape === undefined) turn.effects.keysForgotten.push({ seq: job.seq, name: job.lane.name, own: idempotencyKey, others })
  else {
    const { name, key: own } = placeOf(job.lane.name, shape)
    turn.effects.keysForgotten.push({ seq: job.seq, name, own, others: false })
  }
  turn.facts.forgetIdempotent(job.seq)
}

function slice(turn: TurnContext, command: ManyCommand, judge: Judge, change: (turn: TurnContext, job: Job) => unknown): Slice {
  const { jobs, next, missing } = candidates(turn, command)
  const skipped: Partial<Record<SkipReason, number>> = missing === 0 ? {} : { notFound: missing }
  const limit = sliceOf(command)
  let matched = 0
  let changed = 0
  for (const job of jobs) {
    // This happens only if the turn has created some: the jobs read from disk are at most one slice.
    if (changed === limit) return { matched, changed, skipped, next: command.ids === undefined ? job.seq + 1 : null }
    matched++
    const reason = judge(turn, job)
    if (reason === undefined) {
      changed++
      if (!command.dryRun) change(turn, job)
    } else skipped[reason] = (skipped[reason] ?? 0) + 1
  }
  return { matched, changed, skipped, next }
}

/** Returns the jobs newest first; with ids, in their order. */
function candidates(turn: TurnContext, command: ManyCommand): { jobs: readonly Job[]; next: number | null; missing: number } {
  const { ids, before } = command
  const isStillMeant = judgeOf(turn, command)
  const isMeant = (job: Job) => !isDeleted(job) && isStillMeant(job)
  if (ids !== undefined) {
    const found = new Set(ids.map((id) => turn.facts.find(id)).filter((job) => job !== undefined))
    const jobs = [...found].filter(isMeant)
    return { jobs, next: null, missing: ids.length - jobs.length }
  }
  const { jobs, next } = turn.facts.matching(command)
  // Jobs that this very turn has created are in no file yet.
  const created = before === undefined ? turn.effects.jobs.filter(({ dirty }) => (dirty & DIRTY_INSERT) !== 0).reverse() : []
  return { jobs: [...created, ...jobs].filter(isMeant), next, missing: 0 }
}

/** Judges jobs again as the turn has them now: earlier commands may have changed them since they were read. */
function judgeOf(turn: TurnContext, { filter, search, ids }: ManyCommand): (job: Job) => boolean {
  const ofRun = isOfLastRun(filter)
  // With ids, nobody has looked up last runs: none of these jobs fits, as if they had none.
  if (ids !== undefined && (ofRun || search !== undefined || filter.data !== undefined)) return () => false
  const ended = new Set(ofRun ? turn.effects.runs.map(({ seq }) => seq) : [])
  const { worker: _worker, error: _error, fingerprint: _fingerprint, data: wanted, ...others }: ListFilter = filter
  return (job) => {
    if (!matches(others, job) || (ofRun && !turn.facts.hasSameRun(job, ended))) return false
    // The data of a job that runs is not in memory, and does not change.
    if (job.data === undefined) return true
    return (wanted === undefined || matches({ data: wanted }, job)) && (search === undefined || contains(search, job, job.lane.name))
  }
}
