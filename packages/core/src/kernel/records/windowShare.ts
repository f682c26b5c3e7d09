/**
 * Decides how much of a lane is kept in memory. All windows together are bounded. Beyond the bound each lane that a worker serves
 * has its share, and at least one job, which is the one that runs next.
 */
import { LIMITS } from '../../limits.ts'

/** The maximum share when the lanes crowd each other. */
const CROWDED_JOBS = 16

/** The jobs of all windows together. */
interface Windowed {
  readonly windowedJobs: number
  readonly windowedBytes: number
  readonly servedLanes: number
}

/** Returns the number of jobs up to which a window is read. Room is left for jobs that are enqueued. */
export function jobsToRead({ windowedJobs, servedLanes }: Windowed): number {
  return windowedJobs < LIMITS.windowsJobs / 2 ? LIMITS.windowJobs : shareOfJobs(servedLanes)
}

/** Returns the bytes of payload up to which a window is read. */
export function bytesToRead({ windowedBytes, servedLanes }: Windowed): number {
  return windowedBytes < LIMITS.windowsBytes / 2 ? LIMITS.windowBytes : shareOfBytes(servedLanes)
}

/** Returns the number of jobs that a window keeps when one is enqueued. */
export function jobsToHold({ windowedJobs, servedLanes }: Windowed): number {
  return windowedJobs < LIMITS.windowsJobs ? LIMITS.windowJobs : shareOfJobs(servedLanes)
}

/** Returns the bytes of payload that a window keeps when a job is enqueued. */
export function bytesToHold({ windowedBytes, servedLanes }: Windowed): number {
  return windowedBytes < LIMITS.windowsBytes ? LIMITS.windowBytes : shareOfBytes(servedLanes)
}

/** True if parked jobs may be kept in memory. They are not needed until their key lets them go. */
export function hasRoom({ windowedJobs, windowedBytes }: Windowed): boolean {
  return windowedJobs < LIMITS.windowsJobs && windowedBytes < LIMITS.windowsBytes
}

function shareOfJobs(lanes: number): number {
  return Math.max(1, Math.min(CROWDED_JOBS, LIMITS.windowJobs, Math.floor(LIMITS.windowsJobs / lanes)))
}

function shareOfBytes(lanes: number): number {
  return Math.min(LIMITS.windowBytes, Math.floor(LIMITS.windowsBytes / lanes))
}
