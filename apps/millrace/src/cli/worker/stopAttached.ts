/** Stops workers through the engine, wherever they run. */
import { MillraceError } from '@millrace/core'
import type { Engine, WorkerView } from '@millrace/engine'
import { again } from '../again.ts'
import { now, pause } from '../clock.ts'
import type { StopResult } from './stop.ts'

export interface StopAttached {
  /** For what runs; then it is aborted and given back. Infinity: as long as it takes. */
  readonly timeoutMs: number
  /** How long the worker is waited for, in milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

const LOOK_MS = 200

/** Answers when it has left, or the wait is over. */
export async function stopAttached(engine: Engine, worker: WorkerView, { timeoutMs, waitMs, signal }: StopAttached): Promise<StopResult> {
  const { id, pid } = worker
  const until = now() + waitMs
  let told = false
  for (;;) {
    const attached = (await again(() => engine.workers())).filter((each) => each.id === id && each.host === worker.host && each.pid === pid)
    if (attached.length === 0) return { id, pid, result: 'stopped' }
    // An engine that has started anew may know of nothing.
    if (!told || attached.some(({ draining }) => !draining)) await tell(engine, id, timeoutMs)
    told = true
    if (now() >= until || signal.aborted) return { id, pid, result: 'draining' }
    await pause(LOOK_MS, signal)
  }
}

async function tell(engine: Engine, id: string, timeout: number): Promise<void> {
  try {
    await again(() => engine.stopWorker(id, { timeout }))
  } catch (error) {
    // It has just left.
    if (!(error instanceof MillraceError) || error.code !== 'WORKER_NOT_FOUND') throw error
  }
}
