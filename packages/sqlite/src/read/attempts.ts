/** A job with its runs, as `get` tells it. */
import {
  ACTIVE,
  type AttemptView,
  COMPLETED,
  droppedAttempt,
  type JobRow,
  type LogLevel,
  type LogLine,
  type RunError,
} from '@millrace/core'
import type { Database } from '../driver.ts'
import { type RawRow, ROW_COLUMNS, ROW_WIDTH, rowFrom } from './row.ts'

export type ReadJob = (seq: number) => { readonly row: JobRow; readonly attempts: AttemptView[] } | undefined

type RawAttempt = [run: number, attempt: number, startedAt: number, endedAt: number, worker: string, ...error: RawError]
type RawError = [name: string, message: string, stack: string | null]
type RawLog = [run: number, at: number, level: LogLevel, message: string, fields: string | null]

export function prepareJob(db: Database): ReadJob {
  const job = db
    .prepare(`SELECT ${ROW_COLUMNS}, session.worker FROM job LEFT JOIN session ON session.id = job.session WHERE job.seq = ?`)
    .raw()
  const attempts = db
    .prepare(
      'SELECT run, attempt, started_at, ended_at, worker, error_name, error_message, error_stack FROM attempt WHERE seq = ? ORDER BY run',
    )
    .raw()
  const logs = db.prepare('SELECT run, at, level, message, fields FROM log WHERE seq = ? ORDER BY run, number').raw()
  return (seq) => {
    const raw = job.get(seq) as RawRow | undefined
    if (raw === undefined) return undefined
    const row = rowFrom(raw)
    const lines = linesByRun(logs.all(seq) as RawLog[])
    const views = (attempts.all(seq) as RawAttempt[]).map((attempt) => attemptFrom(attempt, lines))
    const current = currentRun(row, (raw[ROW_WIDTH] as string | null) ?? '', lines)
    if (current !== undefined) views.push(current)
    if (row.dropped) views.push(droppedAttempt(row))
    return { row, attempts: views }
  }
}

/** The error of the last run that failed. */
export function prepareLastError(db: Database): (seq: number) => RunError | undefined {
  const statement = db
    .prepare("SELECT error_name, error_message, error_stack FROM attempt WHERE seq = ? AND error_name <> '' ORDER BY run DESC LIMIT 1")
    .raw()
  return (seq) => {
    const raw = statement.get(seq) as RawError | undefined
    return raw === undefined ? undefined : errorFrom(raw)
  }
}

function attemptFrom([run, attempt, startedAt, endedAt, worker, ...error]: RawAttempt, lines: Map<number, LogLine[]>): AttemptView {
  const logs = lines.get(run) ?? []
  // A run that was given back or snoozed has none.
  return { run, attempt, startedAt, endedAt, worker, ...(error[0] !== '' && { error: errorFrom(error) }), logs }
}

/** The run that goes on or that ended well has no row of its own: the job's row says it all. */
function currentRun(row: JobRow, worker: string, lines: Map<number, LogLine[]>): AttemptView | undefined {
  if (row.state !== ACTIVE && row.state !== COMPLETED) return undefined
  const { run, uncounted, startedAt, finishedAt } = row
  return { run, attempt: run - uncounted, startedAt, endedAt: finishedAt, worker, logs: lines.get(run) ?? [] }
}

function errorFrom([name, message, stack]: RawError): RunError {
  return stack === null ? { name, message } : { name, message, stack }
}

function linesByRun(logs: readonly RawLog[]): Map<number, LogLine[]> {
  const lines = new Map<number, LogLine[]>()
  for (const [run, at, level, message, fields] of logs) {
    const line: LogLine = fields === null ? { at, level, message } : { at, level, message, fields }
    const known = lines.get(run)
    if (known === undefined) lines.set(run, [line])
    else known.push(line)
  }
  return lines
}
