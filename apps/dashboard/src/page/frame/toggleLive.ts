import { live } from '../page.ts'

/** Stops the questions, or resumes them; a rate that is off begins again with the usual one. */
export function toggleLive(): void {
  const { paused, rateMs } = live.pace
  if (rateMs.value === 0) {
    rateMs.value = 2_000
    paused.value = false
  } else paused.value = !paused.value
}
