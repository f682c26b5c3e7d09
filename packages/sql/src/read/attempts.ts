/** Makes rows of runs, logs and sessions into the runs of jobs. */
import { ACTIVE, type AttemptView, COMPLETED, type LogLevel, type LogLine } from '@millrace/core'
import { droppedAttempt, type JobRow, type Questions } from '@millrace/core/kernel'
import { errorFrom, type RawError } from './runError.ts'

export type RawAttempt = [seq: number, run: number, attempt: number, startedAt: number, endedAt: number, worker: string, ...error: RawError]
export type RawLog = [seq: number, run: number, at: number, level: LogLevel, message: string, fields: string | null]
export type RawSession = [id: number, worker: string]

/** The rows that tell the runs of some jobs, each kind in the order of its runs. */
export interface RawRuns {
  readonly ended: readonly RawAttempt[]
  readonly logs: readonly RawLog[]
  /** The sessions of those that run or completed. */
  readonly sessions: readonly RawSession[]
}

/** Returns the runs of each job, in order. */
export function viewsOf(rows: readonly JobRow[], { ended, logs, sessions }: RawRuns): AttemptView[][] {
  const lines = linesByRun(logs)
  const workers = new Map(sessions)
  const bySeq = new Map<number, AttemptView[]>()
  for (const raw of ended) {
    const known = bySeq.get(raw[0])
    if (known === undefined) bySeq.set(raw[0], [attemptFrom(raw, lines)])
    else known.push(attemptFrom(raw, lines))
  }
  return rows.map((row) => {
    const views = [...(bySeq.get(row.seq) ?? [])]
    if (isOwnRun(row)) views.push(ownRun(row, workers.get(row.sessionId) ?? '', lines))
    if (row.dropped) views.push(droppedAttempt(row))
    return views
  })
}

export type RawNumberedLog = [...log: RawLog, number: number]

export function numberedLineFrom([, , at, level, message, fields, number]: RawNumberedLog): ReturnType<Questions['logLines']>[number] {
  return { number, at, level, message, ...(fields !== null && { fields }) }
}

/** True if the last run continues or ended well. Such a run has no row of its own: the job's row says it all. */
export function isOwnRun({ state }: JobRow): boolean {
  return state === ACTIVE || state === COMPLETED
}

function ownRun({ seq, run, uncounted, startedAt, finishedAt }: JobRow, worker: string, lines: Lines): AttemptView {
  return { run, attempt: run - uncounted, startedAt, endedAt: finishedAt, worker, logs: linesOf(lines, seq, run) }
}

function attemptFrom([seq, run, attempt, startedAt, endedAt, worker, ...error]: RawAttempt, lines: Lines): AttemptView {
  // A run that was given back or snoozed has no error.
  const failed = error[0] !== '' && { error: errorFrom(error) }
  return { run, attempt, startedAt, endedAt, worker, ...failed, logs: linesOf(lines, seq, run) }
}

/** Log lines by job, then by run. */
type Lines = ReadonlyMap<number, ReadonlyMap<number, readonly LogLine[]>>

function linesOf(lines: Lines, seq: number, run: number): readonly LogLine[] {
  return lines.get(seq)?.get(run) ?? []
}

function linesByRun(logs: readonly RawLog[]): Lines {
  const lines = new Map<number, Map<number, LogLine[]>>()
  for (const [seq, run, at, level, message, fields] of logs) {
    const line: LogLine = fields === null ? { at, level, message } : { at, level, message, fields }
    const runs = lines.get(seq) ?? new Map<number, LogLine[]>()
    if (runs.size === 0) lines.set(seq, runs)
    const known = runs.get(run)
    if (known === undefined) runs.set(run, [line])
    else known.push(line)
  }
  return lines
}
