/** Stops workers of this machine by signals: the first lets what runs finish, a second one ends it. */
import { now, pause } from '../clock.ts'
import type { Context } from '../context.ts'
import { currentRecord, isAlive, recordFolder, type WorkerRecord } from './records.ts'

export interface StopResult {
  readonly id: string
  readonly pid: number
  /** `ended`: it was still busy when the time was up. `draining`: it was told, and not waited for, or has not finished yet. */
  readonly result: 'stopped' | 'ended' | 'draining'
}

export interface StopLimits {
  /** How long what runs may take, in milliseconds. */
  readonly timeoutMs: number
  /** Then it is ended, or left draining. */
  readonly late: 'end' | 'leave'
}

const LOOK_MS = 50
/** From the second signal to the last resort. */
const END_MS = 5_000

export async function stopWorker(record: WorkerRecord, { timeoutMs, late }: StopLimits, { env, signal }: Context): Promise<StopResult> {
  const { id, pid } = record
  const told = (result: StopResult['result']): StopResult => ({ id, pid, result })
  const gone = (withinMs: number) => becomes(() => !isAlive(record), withinMs, signal)
  const noted = () => currentRecord(recordFolder(env), record)?.draining !== false
  // A second signal would end what runs.
  if (!noted()) send(pid, 'SIGTERM')
  if (await gone(timeoutMs)) return told('stopped')
  // Whoever takes the wait back has not said that what runs is to be ended.
  if (late === 'leave' || signal.aborted) return told('draining')
  // Two signals that a busy process has yet to look at are one.
  await becomes(noted, END_MS, signal)
  if (signal.aborted) return told('draining')
  send(pid, 'SIGTERM')
  if (!(await gone(END_MS)) && !signal.aborted) send(pid, 'SIGKILL')
  await gone(END_MS)
  return told('ended')
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
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
