/** Stops workers through the engine, wherever they run. */
import { retryLost } from '@millrace/client'
import { isErrorOf } from '@millrace/core'
import type { Engine, WorkerView } from '@millrace/engine'
import { now, pause } from '../clock.ts'
import type { StopResult } from './stop.ts'

export interface StopAttached {
  /** The time for running jobs, in milliseconds; then they are aborted and given back. Infinity sets no limit. */
  readonly timeoutMs: number
  /** The maximum time to wait for the worker, in milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

const LOOK_MS = 200

/** Stops a worker, and resolves when it has left or the wait is over. */
export async function stopAttached(engine: Engine, worker: WorkerView, { timeoutMs, waitMs, signal }: StopAttached): Promise<StopResult> {
  const { id, pid } = worker
  const until = now() + waitMs
  let isRequested = false
  for (;;) {
    const attached = (await retryLost(() => engine.workers())).filter(
      (each) => each.id === id && each.host === worker.host && each.pid === pid,
    )
    if (attached.length === 0) return { id, pid, result: 'stopped' }
    // An engine that has restarted may not know of the request.
    if (!isRequested || attached.some(({ draining }) => !draining)) await requestStop(engine, id, timeoutMs)
    isRequested = true
    if (now() >= until || signal.aborted) return { id, pid, result: 'draining' }
    await pause(LOOK_MS, signal)
  }
}

async function requestStop(engine: Engine, id: string, timeout: number): Promise<void> {
  try {
    await retryLost(() => engine.stopWorker(id, { timeout }))
  } catch (error) {
    // The worker has just left.
    if (!isErrorOf(error, 'MillraceError') || error.code !== 'WORKER_NOT_FOUND') throw error
  }
}
