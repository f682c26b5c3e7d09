/** Reads the runs of jobs, as `get` and exports return them. */
import { ACTIVE, type AttemptView, COMPLETED, LIMITS, type LogLevel, type LogLine, type RunError } from '@millrace/core'
import { droppedAttempt, type JobRow, type Questions } from '@millrace/core/kernel'
import type { Database, Statement } from '../driver.ts'
import { ERROR_COLUMNS, errorFrom, type RawError } from './runError.ts'

export type RawAttempt = [seq: number, run: number, attempt: number, startedAt: number, endedAt: number, worker: string, ...error: RawError]
export type RawLog = [seq: number, run: number, at: number, level: LogLevel, message: string, fields: string | null]
export type RawSession = [id: number, worker: string]

const LISTED = 'FROM json_each(?) AS wanted CROSS JOIN'

/** Each statement reads for all of the jobs at once, and only for those that may have rows in its table. */
export function prepareAttempts(db: Database): (rows: readonly JobRow[]) => AttemptView[][] {
  const ended = db
    .prepare(
      `SELECT seq, run, attempt, started_at, ended_at, worker, ${ERROR_COLUMNS}
${LISTED} attempt ON attempt.seq = wanted.value ORDER BY seq, run`,
    )
    .raw()
  const logs = db
    .prepare(
      `WITH wanted (seq) AS MATERIALIZED (SELECT value FROM json_each(?)), shown (seq, run) AS (
  SELECT attempt.seq, attempt.run FROM wanted CROSS JOIN attempt ON attempt.seq = wanted.seq
  UNION SELECT job.seq, job.run FROM wanted CROSS JOIN job ON job.seq = wanted.seq
)
SELECT log.seq, log.run, at, level, message, fields FROM shown CROSS JOIN log ON log.seq = shown.seq AND log.run = shown.run
AND slot > (SELECT max(slot) FROM log AS own WHERE own.seq = shown.seq AND own.run = shown.run) - ${LIMITS.logLinesPerRun}
ORDER BY log.seq, log.run, number`,
    )
    .raw()
  const sessions = db.prepare(`SELECT session.id, worker ${LISTED} session ON session.id = wanted.value`).raw()
  const read = <Raw>(statement: Statement, numbers: ReadonlySet<number>): Raw[] =>
    numbers.size === 0 ? [] : (statement.all(JSON.stringify([...numbers])) as Raw[])
  const numbersOf = (rows: readonly JobRow[], number: (row: JobRow) => number) => new Set(rows.map(number))

  return (rows) => {
    // Includes jobs at their first run: such a job may have expired before, or have been held by its parents, and was brought back.
    const seqs = numbersOf(rows, seqOf)
    return viewsOf(rows, {
      ended: read<RawAttempt>(ended, seqs),
      logs: read<RawLog>(logs, seqs),
      sessions: read<RawSession>(sessions, numbersOf(rows.filter(isOwnRun), sessionOf)),
    })
  }
}

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

/** Returns a page of the lines of one run. A run has at most `LIMITS.logLinesKept`: they are put in order as they are read. */
export function prepareLogLines(db: Database): Questions['logLines'] {
  const select = 'SELECT seq, run, at, level, message, fields, number FROM log WHERE seq = ? AND run = ?'
  const oldest = db.prepare(`${select} AND number > ? ORDER BY number LIMIT ?`).raw()
  const newest = db.prepare(`${select} AND number < ? ORDER BY number DESC LIMIT ?`).raw()
  return (seq, run, query) => {
    const raws = (query.newest ? newest : oldest).all(seq, run, query.after, query.limit) as RawNumberedLog[]
    return raws.map(numberedLineFrom)
  }
}

export type RawNumberedLog = [...log: RawLog, number: number]

export function numberedLineFrom([, , at, level, message, fields, number]: RawNumberedLog): ReturnType<Questions['logLines']>[number] {
  return { number, at, level, message, ...(fields !== null && { fields }) }
}

/** Returns the error of the last run that failed. */
export function prepareLastError(db: Database): (seq: number) => RunError | undefined {
  const statement = db.prepare(`SELECT ${ERROR_COLUMNS} FROM attempt WHERE seq = ? AND error_name <> '' ORDER BY run DESC LIMIT 1`).raw()
  return (seq) => {
    const raw = statement.get(seq) as RawError | undefined
    return raw === undefined ? undefined : errorFrom(raw)
  }
}

function seqOf({ seq }: JobRow): number {
  return seq
}

function sessionOf({ sessionId }: JobRow): number {
  return sessionId
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
