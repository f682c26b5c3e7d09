/** The runs of jobs in a MemoryStore, with their errors and the lines that they logged: bounded for each job. */

import { droppedAttempt, lastRunOf } from '../kernel/jobs/view.ts'
import type { JobRow } from '../kernel/records/rows.ts'
import type { Effects } from '../kernel/state/effects.ts'
import type { LogsQuery } from '../kernel/state/store.ts'
import type { LogRecord, MessageRecord, RunRecord, StepRecord } from '../kernel/state/turnRows.ts'
import { ACTIVE, COMPLETED } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import type { AttemptView, NumberedLine } from '../replies.ts'
import type { RunError } from '../runError.ts'
import { type Undo, UndoMap } from './undo.ts'

export class MemoryRuns {
  readonly #runs: Map<string, RunRecord>
  /** Lines by job, run and number. */
  readonly #logs: Map<string, LogRecord>

  /** Results of durable calls by job and number. */
  readonly #steps: Map<string, StepRecord>

  /** Kept messages by job and number. */
  readonly #messages: Map<string, MessageRecord>

  constructor(undo: Undo) {
    this.#messages = new UndoMap(undo)
    this.#steps = new UndoMap(undo)
    this.#runs = new UndoMap(undo)
    this.#logs = new UndoMap(undo)
  }

  get runs(): readonly RunRecord[] {
    return [...this.#runs.values()]
  }

  get logs(): readonly LogRecord[] {
    return [...this.#logs.values()].sort((a, b) => a.seq - b.seq || a.run - b.run || a.number - b.number)
  }

  write({ runs, logs, steps, rewinds, messages, taken }: Effects): void {
    for (const { seq, number } of taken) this.#messages.delete(`${seq} ${number}`)
    for (const record of messages) this.#messages.set(`${record.seq} ${record.number}`, record)
    for (const record of steps) {
      const key = `${record.seq} ${record.number}`
      if (!this.#steps.has(key)) this.#steps.set(key, record)
    }
    for (const { seq, number, failed } of rewinds)
      for (const each of this.stepsOf(seq)) {
        const isFailed = failed === true && each.error !== undefined
        if (isFailed || each.number === number || each.asked > number) this.#steps.delete(`${seq} ${each.number}`)
      }
    for (const record of runs) {
      this.#runs.set(`${record.seq} ${record.run}`, { ...record, error: record.error && named(record.error) })
      const others = this.#runsOf(record.seq)
      for (const { seq, run } of others.slice(0, Math.max(0, others.length - LIMITS.attemptsPerJob))) this.#runs.delete(`${seq} ${run}`)
    }
    for (const record of logs) {
      const { seq, run, number, gone } = record
      this.#logs.set(`${seq} ${run} ${number}`, record)
      this.#logs.delete(`${seq} ${run} ${gone}`)
      if (number === 0) this.#forgetLogs(seq, run - LIMITS.attemptsPerJob)
    }
  }

  /** Removes all that is known of a job's runs. */
  forget(seq: number): void {
    for (const { number } of this.stepsOf(seq)) this.#steps.delete(`${seq} ${number}`)
    for (const { number } of this.messagesOf(seq)) this.#messages.delete(`${seq} ${number}`)
    for (const { run } of this.#runsOf(seq)) this.#runs.delete(`${seq} ${run}`)
    this.#forgetLogs(seq, Number.POSITIVE_INFINITY)
  }

  /** Returns the results of a job's durable calls, in the order of their numbers. */
  stepsOf(seq: number): readonly StepRecord[] {
    return [...this.#steps.values()].filter((record) => record.seq === seq).sort((a, b) => a.number - b.number)
  }

  /** Returns the messages that a job keeps, the oldest first. */
  messagesOf(seq: number): readonly MessageRecord[] {
    return [...this.#messages.values()].filter((record) => record.seq === seq).sort((a, b) => a.number - b.number)
  }

  /** @param worker the worker of the job's last run */
  attemptsOf(row: JobRow, worker: string): AttemptView[] {
    const { seq, run, uncounted, startedAt, finishedAt } = row
    const logs = (of: number) =>
      this.#linesOf(seq, of)
        .map((log) => log.line)
        .slice(-LIMITS.logLinesPerRun)
    const attempts = this.#runsOf(seq).map(({ seq: _, error, ...view }): AttemptView => {
      return { ...view, ...(error && { error }), logs: logs(view.run) }
    })
    if (row.state === ACTIVE || row.state === COMPLETED)
      attempts.push({ run, attempt: run - uncounted, startedAt, endedAt: finishedAt, worker, logs: logs(run) })
    if (row.dropped) attempts.push(droppedAttempt(row))
    return attempts
  }

  withLastRun(row: JobRow, worker: string): JobRow {
    const last = this.attemptsOf(row, worker).at(-1)
    return { ...row, lastRun: last === undefined ? null : lastRunOf(last) }
  }

  lastError(seq: number): RunError | undefined {
    return this.#runsOf(seq).findLast(({ error }) => error !== undefined)?.error
  }

  errorOf(seq: number, run: number): RunError | undefined {
    return this.#runs.get(`${seq} ${run}`)?.error
  }

  page(seq: number, run: number, { after, limit, newest }: LogsQuery): NumberedLine[] {
    const lines = this.#linesOf(seq, run).map(({ number, line }) => ({ ...line, number }))
    return (newest ? lines.reverse() : lines).filter(({ number }) => (newest ? number < after : number > after)).slice(0, limit)
  }

  #linesOf(seq: number, run: number): LogRecord[] {
    return this.logs.filter((log) => log.seq === seq && log.run === run)
  }

  /** Returns the number of lines that a run has logged, those that were dropped since included. */
  linesOf(seq: number, run: number): number {
    return Math.max(0, ...[...this.#logs.values()].filter((log) => log.seq === seq && log.run === run).map(({ number }) => number + 1))
  }

  #runsOf(seq: number): RunRecord[] {
    return [...this.#runs.values()].filter((record) => record.seq === seq).sort((a, b) => a.run - b.run)
  }

  #forgetLogs(seq: number, upTo: number): void {
    for (const [key, log] of this.#logs) if (log.seq === seq && log.run <= upTo) this.#logs.delete(key)
  }
}

/** Every stored error has a name, and causes if it has some. */
function named({ name, cause, ...error }: RunError): RunError {
  return { name: name || 'Error', ...error, ...(cause !== undefined && cause.length > 0 && { cause }) }
}
