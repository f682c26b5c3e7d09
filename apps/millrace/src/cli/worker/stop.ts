/** Stops workers of this machine by signals: the first lets running jobs finish, a second one ends them. */
import { now, pause } from '../clock.ts'
import type { Context } from '../context.ts'
import { currentRecord, isAlive, recordFolder, type WorkerRecord } from './records.ts'

export interface StopResult {
  readonly id: string
  readonly pid: number
  /** `ended`: it was still busy when the time was up. `draining`: it was signalled and not waited for, or has not finished yet. */
  readonly result: 'stopped' | 'ended' | 'draining'
}

export interface StopLimits {
  /** The time that running jobs may take, in milliseconds. */
  readonly timeoutMs: number
  /** The action when the time is up: the worker is ended, or left draining. */
  readonly late: 'end' | 'leave'
}

const LOOK_MS = 50
/** The time between the first of the second signals and SIGKILL. */
const END_MS = 5_000

export async function stopWorker(record: WorkerRecord, { timeoutMs, late }: StopLimits, { env, signal }: Context): Promise<StopResult> {
  const { id, pid } = record
  const resultOf = (result: StopResult['result']): StopResult => ({ id, pid, result })
  const gone = (withinMs: number) => becomes(() => !isAlive(record), withinMs, signal)
  const noted = () => currentRecord(recordFolder(env), record)?.draining !== false
  // A second signal would end running jobs.
  if (!noted()) send(pid, 'SIGTERM')
  if (await gone(timeoutMs)) return resultOf('stopped')
  // An aborted wait does not mean that running jobs should be ended.
  if (late === 'leave' || signal.aborted) return resultOf('draining')
  // Two signals count as one if a busy process has not yet handled the first, or within 500 ms.
  await becomes(noted, END_MS, signal)
  const insist = () => {
    if (!isAlive(record)) return true
    send(pid, 'SIGTERM')
    return false
  }
  if (!(await becomes(insist, END_MS, signal)) && !signal.aborted) send(pid, 'SIGKILL')
  await gone(END_MS)
  return resultOf('ended')
}

async function becomes(so: () => boolean, withinMs: number, signal: AbortSignal): Promise<boolean> {
  for (const until = now() + withinMs; ; await pause(LOOK_MS, signal)) {
    if (so()) return true
    if (now() >= until || signal.aborted) return false
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // The process has already ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
