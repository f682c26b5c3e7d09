/** How late the event loop of this thread is: a timer of one millisecond, set again each time it fires. */
import type { Figures } from './measurement.ts'
import { quantile } from './quantile.ts'

const EVERY_MS = 1

/** Call the answer to stop and read it. */
export function startLagProbe(): () => Figures {
  const lateMs: number[] = []
  let timer: NodeJS.Timeout
  const set = () => {
    const dueMs = performance.now() + EVERY_MS
    timer = setTimeout(() => {
      lateMs.push(Math.max(0, performance.now() - dueMs))
      set()
    }, EVERY_MS)
  }
  set()
  return () => {
    clearTimeout(timer)
    return {
      delayP50Ms: quantile(lateMs, 0.5),
      delayP99Ms: quantile(lateMs, 0.99),
      delayMaxMs: quantile(lateMs, 1),
      probes: lateMs.length,
    }
  }
}
