/** Catches rejections that would have ended the process. */
import { quiet } from './manualClock.ts'

/** Returns the rejections that were not handled while `run` ran, and in the moment after. */
export async function unhandledDuring(run: () => unknown): Promise<readonly unknown[]> {
  const reasons: unknown[] = []
  const note = (reason: unknown) => void reasons.push(reason)
  process.on('unhandledRejection', note)
  try {
    await run()
    await quiet()
  } finally {
    process.off('unhandledRejection', note)
  }
  return reasons
}
