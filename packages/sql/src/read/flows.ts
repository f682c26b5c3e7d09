/** Makes rows of flows into what a turn needs of them, and into what a job may ask of the jobs that it waited for. */
import { isFinal, type StateCode } from '@millrace/core'
import { DELETED, type DependencyCounter, type FlowDueRow, type ParentOutcome, type ParentRow } from '@millrace/core/kernel'
import { extrasFrom } from '../tables/job.ts'
import { errorFrom, type RawError } from './runError.ts'

export type RawDue = [
  parent: number,
  mode: FlowDueRow['mode'],
  state: StateCode | null,
  ended: ParentOutcome | null,
  child: number | null,
  told: ParentOutcome,
  pending: number | null,
  failed: number,
  gate: DependencyCounter['state'],
]

export function dueFrom([parent, mode, state, ended, seq, told, pending, failed, gate]: RawDue): FlowDueRow {
  return {
    parent,
    mode,
    state: state === null ? (ended ?? DELETED) : isFinal(state) ? state : 0,
    child: seq === null ? undefined : { seq, told, counter: pending === null ? undefined : { seq, parent, pending, failed, state: gate } },
  }
}

export type RawParent = [
  place: number,
  seq: number,
  state: StateCode | null,
  extras: string | null,
  output: ParentRow['output'],
  ended: ParentOutcome | null,
  ref: string | null,
  // A parent that has not failed has no error.
  ...error: RawError | [null, ...unknown[]],
]

export function parentFrom([place, seq, state, extras, output, ended, ref, ...error]: RawParent): ParentRow {
  return {
    place,
    seq,
    ref: ref ?? extrasFrom(extras)?.flow?.ref ?? '',
    state: state ?? ended ?? DELETED,
    output,
    error: error[0] === null ? undefined : errorFrom(error as RawError),
  }
}
