/** Answers to questions about the durable calls of a job. */
import {
  type CommandOf,
  isFinal,
  type JobStepsPage,
  LIMITS,
  type RecordedCommand,
  type RecordedPage,
  type Refused,
  type StepsPage,
} from '@millrace/core'
import { findRow, runOf, type Sender, type Store, stale, type Tables } from '@millrace/core/kernel'

/** Returns a page of what the job of a run has recorded. */
export function recordedOf(store: Store, tables: Tables, command: RecordedCommand, sender: Sender): RecordedPage | Refused {
  const { seq, run, after } = command
  const job = runOf({ tables }, command, sender)
  if (job === undefined) return stale(seq, run)
  const { generation = 0, waiting } = job.extras?.steps ?? {}
  return { ...pageOf(store, seq, after, LIMITS.pageSteps), generation, waits: waiting?.waits ?? [] }
}

/** Returns a page of the results of a job's durable calls, with its open waits and the messages that it keeps. */
export function stepsOf(store: Store, { id, after, limit }: CommandOf<'steps'>): JobStepsPage | null {
  const row = findRow(store, id, 0)
  if (row === undefined) return null
  const waits = isFinal(row.state) ? [] : (row.extras?.steps?.waiting?.waits ?? [])
  const kept = row.extras?.kept?.count ?? 0
  const messages = kept === 0 ? [] : store.messages(row.seq, undefined, limit, LIMITS.stepsBytes)
  return { ...pageOf(store, row.seq, after, limit), waits, messages, kept }
}

function pageOf(store: Store, seq: number, after: number, limit: number): StepsPage {
  const { results, complete } = store.steps(seq, after, limit, LIMITS.stepsBytes)
  return { results, next: complete ? null : (results.at(-1)?.number ?? null) }
}
