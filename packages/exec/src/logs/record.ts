/**
 * Which process group runs a job, for the worker that comes after this one has been killed: a small file beside the log, gone when
 * the run is over.
 */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { bootId, pidNamespace, startOf } from '../process/proc.ts'

interface Process {
  readonly pid: number
  readonly start: string
}

export interface RunRecord {
  readonly boot: string
  readonly namespace: string
  readonly worker: Process
  /** Its process is the first of the group, and gives it its number; missing where the worker has died before it was started. */
  readonly group?: Process
}

/** Begun before the command, so that a folder that cannot be written starts nothing. None where the system tells nothing of processes. */
export function beginRecord(path: string): void {
  const boot = bootId()
  if (boot === '') return
  const worker = { pid: process.pid, start: startOf(process.pid) ?? '' }
  writeFileSync(path, `${JSON.stringify({ boot, namespace: pidNamespace(), worker })}\n`, { mode: 0o600 })
}

/** In the same tick as the start: nothing comes between. */
export function recordGroup(path: string, pid: number): void {
  const start = startOf(pid)
  // Over already, or on a system that does not tell: there is nothing to be found later.
  if (start !== undefined) appendFileSync(path, `${JSON.stringify({ group: { pid, start } })}\n`)
}

/** Undefined for what is no record. */
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

/** A number of 0 or 1 would name oneself, or everybody. */
function isProcess(value: unknown): value is Process {
  const { pid, start } = (value ?? {}) as Partial<Process>
  return typeof pid === 'number' && Number.isInteger(pid) && pid > 1 && typeof start === 'string'
}

export function endRecord(path: string): void {
  rmSync(path, { force: true })
}
