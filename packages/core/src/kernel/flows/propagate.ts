/**
 * Notifies children of the state of their parents, a slice per turn and before its commands, as the last commit has it. A
 * repeated notification changes nothing, so all that is cut off is sent again. A job whose last parent has ended is let through
 * once.
 */

import type { Cancellation } from '../../job.ts'
import { BLOCKED, CANCELLED, FAILED, isFinal, STATES } from '../../lifecycle.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { openOncePropagated, setDependencies } from '../jobs/dependencies.ts'
import { revive } from '../jobs/retry.ts'
import { cancelByParent, cancelUnneeded, failByParent } from '../jobs/transitions.ts'
import { broken } from '../records/broken.ts'
import {
  CANCEL,
  COUNTER_FAILED,
  cancels,
  DELETED,
  type DependencyCounter,
  type DueMode,
  dueMode,
  endOf,
  type FlowEffects,
  hasFailed,
  mayOpen,
  NOTIFY,
  type ParentOutcome,
  RETRY,
  takesBack,
} from '../records/flowState.ts'
import type { Job } from '../records/job.ts'
import { type FlowSlice, isDeleted } from '../state/facts.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { notifyLater } from './flowEnds.ts'
import { passOn } from './tree.ts'

/** The sum of what a child has received in this turn. */
interface Received {
  mode: DueMode
  /** The reason of the cancel of one of them. */
  said: Cancellation | undefined
  /** The last of the parents that have failed. */
  bad: { readonly seq: number; readonly state: string } | undefined
}

export function propagate(turn: TurnContext): void {
  const { facts, effects } = turn
  const received = new Map<DependencyCounter, Received>()
  for (const slice of facts.flowSlices) notifySlice(turn, slice, received)
  // Each child acts when it has received all: one parent's failure and another's return must not be seen one after the other.
  for (const [counter, { mode, said, bad }] of received) {
    const job = facts.job(counter.seq)
    if (job === undefined || isDeleted(job)) continue
    if (cancels(mode) && !isFinal(job.state)) cancelJob(turn, job, said)
    else if (mode === RETRY && (job.state === FAILED || job.state === CANCELLED)) revive(turn, job)
    else {
      if (cancels(mode)) passOn(turn, job, said ?? {})
      swing(turn, job, counter, mode, bad)
    }
    if (cancels(mode)) notifyLater(turn, job, CANCEL)
    else if (mode === RETRY) notifyLater(turn, job, RETRY)
  }
  for (const { child, parent } of facts.flowLeft) {
    if (parent !== undefined) effects.flows.dropped.push({ parent, child })
    effects.flows.dropping.push(child)
  }
}

function notifySlice({ facts, effects }: TurnContext, slice: FlowSlice, received: Map<DependencyCounter, Received>): void {
  const { flows } = effects
  const { parent, mode, children } = slice
  const state = takesBack(mode) ? 0 : slice.state
  const said = cancels(mode) ? facts.job(parent)?.extras?.cancel : undefined
  flows.progress.push({ parent, next: nextOf(slice) })
  for (const { seq, reported } of children) {
    // The child's row is gone, and its edges follow.
    const counter = facts.dependencies(seq)
    if (counter === undefined) continue
    if (reported !== state) {
      flows.reported.push({ parent, child: seq, state })
      count(counter, reported, -1)
      count(counter, state, 1)
      flows.changed.add(counter)
    }
    const known = received.get(counter) ?? { mode, said: undefined, bad: undefined }
    received.set(counter, known)
    known.mode = dueMode(known.mode, mode)
    if (cancels(mode)) known.said ??= said
    if (hasFailed(state)) known.bad = { seq: parent, state: state === DELETED ? 'deleted' : STATES[state] }
  }
}

/**
 * Returns what to notify next. Children of a parent that was taken back are notified again when no other is being taken back: it may have
 * ended since, and one that runs at a failure may still have a parent that has failed.
 */
function nextOf({ mode, children, done }: FlowSlice): FlowEffects['progress'][number]['next'] {
  const last = children.at(-1)
  if (!done && last !== undefined) return { after: last.seq, mode }
  return takesBack(mode) ? { after: 0, mode: NOTIFY } : undefined
}

function count(counter: DependencyCounter, reported: ParentOutcome, change: number): void {
  if (reported === 0) counter.pending += change
  else if (hasFailed(reported)) counter.failed += change
  if (counter.pending < 0 || counter.failed < 0)
    broken(`job ${counter.seq} waits for ${counter.pending} jobs, and ${counter.failed} have failed`)
}

/** Lets a job through, ends it, or makes it wait again, as its counter says. It is let through by no turn that takes parents back. */
function swing(turn: TurnContext, job: Job, counter: DependencyCounter, mode: DueMode, bad: Received['bad']): void {
  const end = endOf(job, counter)
  if (counter.state === COUNTER_FAILED && (job.state === FAILED || job.state === CANCELLED)) {
    if (end === undefined) revive(turn, job)
  } else if (job.state === BLOCKED && end === 'drop') cancelUnneeded(turn, job)
  else if (job.state === BLOCKED && end !== undefined) {
    setDependencies(turn, counter, COUNTER_FAILED)
    if (end === 'fail') failByParent(turn, job, bad)
    else cancelByParent(turn, job, bad)
  } else if (job.state === BLOCKED && mayOpen(job, counter) && !takesBack(mode)) openOncePropagated(turn, job, counter)
}
