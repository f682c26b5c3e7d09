/**
 * Records which process group runs a job, for the next worker if this one is killed. The record is a small file beside the log.
 * It is removed when the run is over.
 */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { bootId, pidNamespace, startOf } from '@millrace/worker/process'

interface Process {
  readonly pid: number
  readonly start: string
}

export interface RunRecord {
  readonly boot: string
  readonly namespace: string
  readonly worker: Process
  /** The first process of the group, whose pid is the group's number. Missing if the worker died before it started the command. */
  readonly group?: Process
}

/** Begins the record before the command, so that an unwritable folder starts nothing. Writes none if the system reports no processes. */
export function beginRecord(path: string): void {
  const boot = bootId()
  if (boot === '') return
  const worker = { pid: process.pid, start: startOf(process.pid) ?? '' }
  writeFileSync(path, `${JSON.stringify({ boot, namespace: pidNamespace(), worker })}\n`, { mode: 0o600 })
}

/** Adds the group in the same tick as the start, so that nothing comes between. */
export function recordGroup(path: string, pid: number): void {
  const start = startOf(pid)
  // Over already, or not reported by this system: there is nothing to find later.
  if (start !== undefined) appendFileSync(path, `${JSON.stringify({ group: { pid, start } })}\n`)
}

/** Returns the record, or undefined if the file is not a valid one. */
export function readRecord(path: string): RunRecord | undefined {
  try {
    const [first = '', second = ''] = readFileSync(path, 'utf8').split('\n')
    const record = JSON.parse(first) as RunRecord
    const group = second === '' ? {} : (JSON.parse(second) as Pick<RunRecord, 'group'>)
    return isProcess(record.worker) && (group.group === undefined || isProcess(group.group)) ? { ...record, ...group } : undefined
  } catch {
    return undefined
  }
}

/** True for a process with a valid pid. A pid of 0 or 1 would name this process's own group, or all processes. */
function isProcess(value: unknown): value is Process {
  const { pid, start } = (value ?? {}) as Partial<Process>
  return typeof pid === 'number' && Number.isInteger(pid) && pid > 1 && typeof start === 'string'
}

export function endRecord(path: string): void {
  rmSync(path, { force: true })
}
