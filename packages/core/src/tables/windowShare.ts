/**
 * How much of a lane is kept in memory. All windows together are bounded: past that each lane that a worker serves has its share, and one
 * job at least, which is the one that runs next.
 */
import { LIMITS } from '../limits.ts'
import type { Tables } from './tables.ts'

/** At the most, where the lanes crowd each other. */
const CROWDED_JOBS = 16

type Windowed = Pick<Tables, 'windowedJobs' | 'windowedBytes' | 'servedLanes'>

/** How many jobs a window is read up to: room is left for what is enqueued. */
export function jobsToRead({ windowedJobs, servedLanes }: Windowed): number {
  return windowedJobs < LIMITS.windowsJobs / 2 ? LIMITS.windowJobs : shareOfJobs(servedLanes)
}

/** Of what payload, as well. */
export function bytesToRead({ windowedBytes, servedLanes }: Windowed): number {
  return windowedBytes < LIMITS.windowsBytes / 2 ? LIMITS.windowBytes : shareOfBytes(servedLanes)
}

/** How many jobs a window is left with by one that is enqueued. */
export function jobsToHold({ windowedJobs, servedLanes }: Windowed): number {
  return windowedJobs < LIMITS.windowsJobs ? LIMITS.windowJobs : shareOfJobs(servedLanes)
}

/** Of what payload, as well. */
export function bytesToHold({ windowedBytes, servedLanes }: Windowed): number {
  return windowedBytes < LIMITS.windowsBytes ? LIMITS.windowBytes : shareOfBytes(servedLanes)
}

/** Whether parked jobs may be kept in memory, which nobody needs until their key lets them go. */
export function hasRoom({ windowedJobs, windowedBytes }: Windowed): boolean {
  return windowedJobs < LIMITS.windowsJobs && windowedBytes < LIMITS.windowsBytes
}

function shareOfJobs(lanes: number): number {
  return Math.max(1, Math.min(CROWDED_JOBS, LIMITS.windowJobs, Math.floor(LIMITS.windowsJobs / lanes)))
}

function shareOfBytes(lanes: number): number {
  return Math.min(LIMITS.windowBytes, Math.floor(LIMITS.windowsBytes / lanes))
}
