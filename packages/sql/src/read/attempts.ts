/** Reads the runs of jobs. */
import { ACTIVE, type AttemptView, COMPLETED, type LogLevel, type LogLine, type RunError } from '@millrace/core'
import { droppedAttempt, type JobRow, type Questions } from '@millrace/core/kernel'
import type { Prepare } from '../query.ts'
import { ERROR_COLUMNS, errorFrom, type RawError } from './runError.ts'

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

type RawNumberedLog = [...log: RawLog, number: number]

/** Returns a page of the lines of one run. */
export function prepareLogLines(prepare: Prepare): Questions['logLines'] {
  const select = 'SELECT seq, run, at, level, message, fields, number FROM log WHERE seq = ? AND run = ?'
  const oldest = prepare<RawNumberedLog>(`${select} AND number > ? ORDER BY number LIMIT ?`)
  const newest = prepare<RawNumberedLog>(`${select} AND number < ? ORDER BY number DESC LIMIT ?`)
  return (seq, run, query) =>
    (query.newest ? newest : oldest)
      .all(seq, run, query.after, query.limit)
      .map(([, , at, level, message, fields, number]) => ({ number, at, level, message, ...(fields !== null && { fields }) }))
}

/** Returns the error of the last run that failed. */
export function prepareLastError(prepare: Prepare): (seq: number) => RunError | undefined {
  const last = prepare<RawError>(`SELECT ${ERROR_COLUMNS} FROM attempt WHERE seq = ? AND error_name <> '' ORDER BY run DESC LIMIT 1`)
  return (seq) => {
    const raw = last.get(seq)
    return raw === undefined ? undefined : errorFrom(raw)
  }
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
