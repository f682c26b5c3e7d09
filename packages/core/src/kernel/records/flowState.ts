/**
 * The state of flows: jobs that wait for others. What never changes of a job's place in its flow is in its row's extras, so that a plain
 * job pays nothing. What changes is a counter per waiting job and a mark per edge, on disk alone.
 */

import type { FlowState, Joined, OnParentFailure } from '../../flow.ts'
import type { JobKey } from '../../id.ts'
import type { Data } from '../../job.ts'
import { CANCELLED, COMPLETED, FAILED, type StateCode } from '../../lifecycle.ts'
import type { Job } from './job.ts'
import { type Counts, liveCountOf } from './lane.ts'

export interface FlowPlace {
  /** Row number of the flow's first job; a flow's jobs follow one another. The stores look for it as the first field. */
  readonly first: number
  readonly ref: string
  /** The number of jobs that it waits for, joined ones included. */
  readonly parents: number
  /** True if other jobs wait for it. */
  readonly children: boolean
  readonly onFailure: OnParentFailure
  /** Milliseconds from its release. */
  readonly delay?: number
  /** The jobs that it has created and waits for. Each group is a flow of its own. */
  readonly joined?: readonly JoinedJobs[]
}

/** Jobs that were created in one commit: their ids differ only in the row. */
export interface JoinedJobs extends Joined {
  /** The first of them; their rows follow one another. */
  readonly first: JobKey
}

/** Returns the number of parents that the job has from its flow. */
export function flowParentsOf({ parents, joined }: FlowPlace): number {
  const [first] = joined ?? []
  return first === undefined ? parents : first.place - 1
}

/** Returns the id of a parent: that of its group if the job has joined it, otherwise one of the job's own commit. */
export function parentKeyOf(job: JobKey, { joined }: FlowPlace, seq: number): JobKey {
  const group = joined?.find(({ first, jobs }) => seq >= first.seq && seq < first.seq + jobs)
  return { seq, node: (group?.first ?? job).node, enqueuedAt: (group?.first ?? job).enqueuedAt }
}

/** Returns what failed parents mean for a job. One that has run and joined others decides itself. */
function onFailureOf({ extras }: Pick<Job, 'extras'>): OnParentFailure {
  return extras?.flow === undefined || extras.flow.joined !== undefined ? 'continue' : extras.flow.onFailure
}

/** True if a parent that has failed ends the job without a run. */
export function endsWithParents(job: Pick<Job, 'extras'>): boolean {
  const onFailure = onFailureOf(job)
  return onFailure === 'fail' || onFailure === 'cancel'
}

/** True if the counter lets the job through, unless it ends the job. */
export function mayOpen(job: Pick<Job, 'extras'>, { pending, failed }: DependencyCounter): boolean {
  return onFailureOf(job) === 'run' ? failed > 0 : pending === 0
}

/** Returns how a job ends without a run, if its counter will never let it through as it is. `drop`: nobody needs it. */
export function endOf(job: Pick<Job, 'extras'>, { pending, failed }: DependencyCounter): 'fail' | 'cancel' | 'drop' | undefined {
  const onFailure = onFailureOf(job)
  if (onFailure === 'run') return pending === 0 && failed === 0 ? 'drop' : undefined
  return failed > 0 && (onFailure === 'fail' || onFailure === 'cancel') ? onFailure : undefined
}

/** The job waits: parents have yet to end, or have failed. */
export const COUNTER_PENDING = 0

/** The job was let through. */
export const COUNTER_OPEN = 1

/** The job has failed because a parent has. */
export const COUNTER_FAILED = 2

/** The state of a job's parents, as far as the job knows it. */
export interface DependencyCounter {
  readonly seq: number
  /** One of those that it waits for: whoever is to be looked at again hears of that one. */
  readonly parent: number
  /** Parents that are not final, as far as the job was told. */
  pending: number
  /** Parents that ended without having completed. */
  failed: number
  state: typeof COUNTER_PENDING | typeof COUNTER_OPEN | typeof COUNTER_FAILED
}

/** Stands for a final state if the job was deleted before it had one. */
export const DELETED = 7

/** A parent's outcome as a child stores it: 0 while the parent lives. */
export type ParentOutcome = 0 | StateCode | typeof DELETED

export function hasFailed(outcome: ParentOutcome): boolean {
  return outcome > COMPLETED
}

/** The modes in which a parent's outcome goes to its children. */
export const NOTIFY = 0

/** First of all that it lives again, and those that failed because of it with it. */
export const REVERT = 1

/** Cancels the children, and theirs. */
export const CANCEL = 2

/** Like REVERT, and revives all children that failed or were cancelled, and theirs. */
export const RETRY = 3

/** REVERT and CANCEL: the parent lives again while its tree is being cancelled. */
export const CANCEL_REVERTED = 4

export const DUE_MODES = [NOTIFY, REVERT, CANCEL, RETRY, CANCEL_REVERTED] as const
export type DueMode = (typeof DUE_MODES)[number]

/** Reverts children of a revived parent before anything else, so that no child starts on an outcome that no longer holds. */
export function takesBack(mode: DueMode): boolean {
  return mode === REVERT || mode === RETRY || mode === CANCEL_REVERTED
}

export function cancels(mode: DueMode): boolean {
  return mode === CANCEL || mode === CANCEL_REVERTED
}

/**
 * Returns the mode that is due after another one that is not done. A request for a whole tree overrides a mere outcome; of two requests,
 * the later one counts. What is taken back stays so until the children have heard of it.
 */
export function dueMode(before: DueMode, mode: DueMode): DueMode {
  if (mode === RETRY) return RETRY
  if (cancels(mode)) return takesBack(before) || takesBack(mode) ? CANCEL_REVERTED : CANCEL
  if (mode === REVERT && cancels(before)) return CANCEL_REVERTED
  return mode > before ? mode : before
}

export interface FlowEdge {
  readonly parent: number
  readonly child: number
  /** Among the child's parents, from 1. */
  readonly place: number
}

/** The part of a removed job that its children may still ask for. */
export interface FlowEnd {
  readonly seq: number
  readonly ref: string
  readonly state: ParentOutcome
  /** `row`: as the row says it; `record`: with this output and the row's last error; `state`: no content. */
  readonly keep: 'row' | 'record' | 'state'
  readonly output: Data
}

/** The changes of a turn to flows. */
export class FlowEffects {
  readonly counters: DependencyCounter[] = []
  readonly edges: FlowEdge[] = []
  readonly changed = new Set<DependencyCounter>()
  readonly reported: { readonly parent: number; readonly child: number; readonly state: ParentOutcome }[] = []
  /** Up to which child those of a parent were told, and what comes next; undefined where all is told. */
  readonly progress: { readonly parent: number; readonly next: { readonly after: number; readonly mode: DueMode } | undefined }[] = []
  /** Jobs whose children are to be told from the first on, by later turns. */
  readonly due = new Map<number, DueMode>()
  /** True if some parents live again. */
  back = false
  readonly ends: FlowEnd[] = []
  /** Jobs with parents, whose rows go: their edges follow in slices. */
  readonly gone: number[] = []
  readonly dropped: { readonly parent: number; readonly child: number }[] = []
  /** The jobs of `gone` that have no edge left. */
  readonly dropping: number[] = []

  note({ seq }: { readonly seq: number }, mode: DueMode): void {
    this.due.set(seq, dueMode(this.due.get(seq) ?? NOTIFY, mode))
    if (takesBack(mode)) this.back = true
  }
}

export function isParent(job: Pick<Job, 'extras'>): boolean {
  return job.extras?.flow?.children === true
}

/** Returns the state of a flow whose jobs are in these states. */
export function flowStateOf(counts: Counts): FlowState {
  if (liveCountOf({ counts }) > 0) return 'running'
  if (counts[FAILED] > 0) return 'failed'
  return counts[CANCELLED] > 0 ? 'cancelled' : 'completed'
}
